import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FolderMeasurer } from './measure-folder.js';

/** A command makes them by entering one folder after the other. */
describe('folders deeper than a path can be', () => {
  let root: string;
  let measurer: FolderMeasurer;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'long-paths-'));
    measurer = new FolderMeasurer();
  });
  afterEach(async () => {
    await measurer.endThread();
    // Node removes no paths that the system does not take.
    spawnSync('rm', ['-rf', root]);
  });

  /** Folders in one another, with a file in the last one. */
  const putDeep = (depth: number): void => {
    let open = openSync(root, 'r');
    for (let at = 0; at < depth; at += 1) {
      const below = `/proc/self/fd/${open}/${'d'.repeat(250)}`;
      mkdirSync(below);
      const next = openSync(below, 'r');
      closeSync(open);
      open = next;
    }
    writeFileSync(`/proc/self/fd/${open}/large`, 'x'.repeat(1_000_000));
    closeSync(open);
  };

  it('counts files with paths longer than the system accepts', async () => {
    putDeep(100);
    const { bytes, files } = await measurer.measure(root, 1_000);
    expect(files).toBe(101);
    expect(bytes).toBeGreaterThan(1_000_000);
  });

  it('counts a folder of very long paths as one with too many files', async () => {
    putDeep(400);
    expect(await measurer.measure(root, 1_000)).toMatchObject({ files: 1_001 });
  });
});
