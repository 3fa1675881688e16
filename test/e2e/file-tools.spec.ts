import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pdfOf } from '../../libs/tools/src/testing/pdf.js';
import { Agent } from '../support/agent.js';
import { textOf } from '../support/policy-case.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** An agent that may not touch `secret`. */
const CAREFUL = { policy: { paths: { trusted: [{ tools: ['*'], allowed: [], denied: ['secret'] }] } } };

const folder = mkdtempSync(join(tmpdir(), 'toolyard-file-tools-'));
let toolyard: TestCluster;
let agent: Agent;
beforeAll(async () => {
  const config = join(folder, 'toolyard.json');
  writeFileSync(config, JSON.stringify({ agents: { careful: CAREFUL } }));
  toolyard = await startTestCluster({ workers: 3, env: { TOOLYARD_CONFIG: config } });
  agent = new Agent(toolyard.gateways[0]?.url ?? '');
});
afterAll(async () => {
  await toolyard.close();
  rmSync(folder, { recursive: true });
});

const run = (tool: string, args: unknown, sessionId: string, more: object = {}) => agent.run(tool, args, { sessionId, ...more });
const asCareful = { agentId: 'careful' };
const write = async (path: string, content: string, sessionId: string) =>
  expect(await run('file_write', { path, content }, sessionId)).toMatchObject({ ok: true });

describe('file_read', () => {
  it('shows lines with their numbers below a header [TB-23]', async () => {
    await write('two', 'a\nb\n', 'lines');
    expect(textOf(await run('read_file', { path: 'two', line_numbers: true }, 'lines'))).toBe('[2 lines]\n   1 | a\n   2 | b');
  });

  it('reads lines, a folder and an image in one call, one item each in their order [TB-24]', async () => {
    await write('a.txt', 'one\ntwo\n', 'batch');
    await run('shell', { command: "printf '\\211PNG\\r\\n\\032\\n' > p.png" }, 'batch');
    const operations = [
      { path: 'a.txt', offset: 2 },
      { mode: 'directory', path: '.' },
      { mode: 'image', path: 'p.png' },
    ];
    const { result } = await run('fs_read', { operations }, 'batch');
    expect(result?.content).toEqual([
      { type: 'text', text: '[Lines 2-2 of 2]\ntwo\n' },
      { type: 'text', text: expect.stringMatching(/ a\.txt$/m) },
      { type: 'image', data: Buffer.from('89504e470d0a1a0a', 'hex').toString('base64'), mimeType: 'image/png' },
    ]);
    const failed = await run('fs_read', { operations: [{ path: 'x' }, ...operations, { path: 'y' }] }, 'batch');
    expect(failed).toMatchObject({ outcome: 'failed', error: { message: expect.stringMatching(/not found: x\..*, .*not found: y\./) } });
  });

  it('is denied as a whole when one of its paths is', async () => {
    await write('free', 'free', 'careful');
    const operations = [{ path: 'free' }, { path: 'secret/x' }];
    expect(await run('file_read', { operations }, 'careful', asCareful)).toMatchObject({ outcome: 'denied', attempt: 0 });
    expect(await run('file_read', { operations: operations.slice(0, 1) }, 'careful', asCareful)).toMatchObject({ ok: true });
  });

  it('lists a folder without entering those that seldom matter [TB-25]', async () => {
    await run('shell', { command: 'mkdir -p node_modules/m src/deep; touch src/a node_modules/m/b' }, 'listing');
    const list = async (max_depth: number) =>
      textOf(await run('read', { operations: [{ mode: 'directory', path: '.', max_depth }] }, 'listing'));
    const names = (text: string) =>
      text
        .split('\n')
        .map((line) => line.slice(line.lastIndexOf(' ') + 1))
        .sort();
    expect(names(await list(1))).toEqual(['node_modules/', 'src/']);
    expect(names(await list(3))).toEqual(['node_modules/', 'src/', 'src/a', 'src/deep/']);
  });

  it('reads the text of PDF files', async () => {
    await write('a.pdf', pdfOf('Hello PDF'), 'pdf');
    expect(textOf(await run('file_read', { path: 'a.pdf' }, 'pdf'))).toBe('[Page 1 of 1]\nHello PDF\n');
  });
});
