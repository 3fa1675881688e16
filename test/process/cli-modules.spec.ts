import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from '@jest/globals';
import { freePort } from '../support/free-port.mjs';
import { cleanUp, freshDirectory } from '../support/standalone.js';

const RECORDER = resolve('test/support/loaded-modules.fixture.mjs');

afterAll(cleanUp);

/** Files of this project and of packages that the command loads, and its exit code. */
async function loaded(words: readonly string[], env: Record<string, string> = {}): Promise<{ code: number | null; modules: string[] }> {
  const file = join(freshDirectory(), 'modules');
  writeFileSync(file, '');
  const address = { TOOLYARD_URL: `http://127.0.0.1:${await freePort()}`, TOOLYARD_API_KEY: 'k'.repeat(16) };
  const { status } = spawnSync(process.execPath, ['--import', pathToFileURL(RECORDER).href, resolve('apps/cli/toolyard.mjs'), ...words], {
    env: { PATH: process.env['PATH'] ?? '', LOADED_MODULES: file, ...address, ...env },
    input: '',
  });
  const modules = readFileSync(file, 'utf8').split('\n');
  const ours = modules.filter((url) => url.startsWith('file:') && !url.endsWith('.fixture.mjs'));
  return { code: status, modules: ours.map((url) => url.slice(pathToFileURL(`${resolve('.')}/`).href.length)) };
}

it.each([
  ['--version', 0],
  ['--help', 0],
  ['calls', 7],
  ['call shell command=ls', 7],
  ['quote shell command=ls', 7],
  ['show 01JB', 7],
  ['tools', 7],
  ['approvals', 7],
  ['watch', 7],
  ['sources list', 7],
  ['schedules list', 7],
  ['keys list', 7],
  ['doctor', 1],
  ['mcp', 0],
])('loads few own files for `toolyard %s`, and no part of a server', async (words, exitCode) => {
  const { code, modules } = await loaded(words.split(' '));
  expect(code).toBe(exitCode);
  expect(modules.filter((path) => !path.startsWith('dist/cli/'))).toEqual(['apps/cli/toolyard.mjs']);
  expect(modules.length).toBeLessThan(12);
});
