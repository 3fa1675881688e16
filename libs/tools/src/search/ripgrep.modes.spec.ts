import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BubblewrapSandbox, giveFolder } from '#sandbox';
import { eventually } from '../../../sandbox/src/testing/process.fixture.js';
import { processesWith } from '../testing/shell-runs.js';
import { ripgrep } from './ripgrep.js';

/** Workspace as on a worker: for root it belongs to another user, for whom bwrap waits. */
describe('a search of a workspace', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'toolyard-search-'));
    for (let n = 0; n < 20; n += 1) await writeFile(join(root, `${n}.txt`), 'hit\n');
    const sandbox = new BubblewrapSandbox();
    await sandbox.probe();
    await giveFolder(root, sandbox.userOf('acme'));
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  const search = async (signal: AbortSignal) => {
    const found: string[] = [];
    const run = { root, args: ['--no-heading', 'hit', '.'], separator: '\n' } as const;
    for await (const line of ripgrep(run, { signal, env: {} })) found.push(line);
    return found;
  };

  it('finds the same as an independent search by ripgrep', async () => {
    expect(await search(AbortSignal.timeout(20_000))).toHaveLength(20);
  });

  it('leaves no process of a search behind, whenever it is aborted', async () => {
    const processes = () => processesWith(basename(root)).length;
    for (let round = 0; round < 40; round += 1) {
      const abort = new AbortController();
      let isOver = false;
      const ended = search(abort.signal).catch(() => undefined);
      void ended.then(() => (isOver = true));
      // Two bwrap processes exist before ripgrep begins, until shortly after its users are mapped.
      while (!isOver && processes() < 1 + (round % 3)) await setImmediate();
      abort.abort(new Error('aborted'));
      await ended;
    }
    await eventually(() => processes() === 0);
  });
});
