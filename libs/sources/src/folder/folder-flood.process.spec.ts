import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { NoSandbox } from '#sandbox';
import type { ToolContext } from '#tool-sdk';
import { readFolder } from './read-folder.js';
import { runFolderTool } from './run-folder-tool.js';

const folder = mkdtempSync(join(tmpdir(), 'toolyard-folder-flood-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('stops a folder tool that floods its update descriptor, with the reason', async () => {
  mkdirSync(join(folder, 'flood'));
  const program = `const fs = require('fs'); const lines = '{"update":"x"}\\n'.repeat(1000); for (;;) try { fs.writeSync(3, lines) } catch (e) { if (e.code !== 'EAGAIN') throw e }`;
  const tool = { name: 'flood', description: 'Floods.', run: ['node', '-e', program], input: { type: 'object' } };
  writeFileSync(join(folder, 'flood', 'tool.yaml'), JSON.stringify(tool));
  const { tools } = await readFolder(folder);
  const [found] = tools;
  if (found === undefined) throw new Error('expected one tool');
  const ctx = {
    callId: 'c',
    attempt: 1,
    signal: AbortSignal.timeout(500_000),
    deadline: Date.now() + 500_000,
    graceMs: 0,
    env: { PATH: process.env['PATH'] ?? '' },
    workspace: { root: folder },
    onUpdate: () => {},
    onProgress: () => {},
  } as unknown as ToolContext;
  await expect(runFolderTool(found, {}, ctx, { sandbox: new NoSandbox(), env: {} })).rejects.toThrow(
    /The tool was stopped: it sent more than \d+ messages a second/,
  );
});
