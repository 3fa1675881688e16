import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FileEditTool } from './file-edit.tool.js';
import { FileListTool } from './file-list.tool.js';
import { FileReadTool } from './file-read.tool.js';
import { FileSearchTool } from '../search/file-search.tool.js';
import { FileWriteTool } from './file-write.tool.js';
import { GlobTool } from '../search/glob.tool.js';
import { SECRET, startSwapper, testWorkspace, type TestWorkspace } from '../testing/test-workspace.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';

/** Number of concurrent reads of a worker. */
const AT_ONCE = 32;

/** Counts of a folder seen as itself, and as the link put in its place. */
interface Seen {
  inside: number;
  refused: number;
}

/**
 * Another process renames a folder away, puts a link to a folder outside in its place, and back, as fast as it can. Whatever
 * the tools are asked meanwhile, nothing of the outside comes in and nothing goes out.
 */
describe('while another process keeps exchanging a folder for a link out', () => {
  let workspace: TestWorkspace;
  let ctx: ToolContext;
  let swapper: { stop(): void };
  beforeEach(async () => {
    workspace = await testWorkspace();
    ctx = fakeToolContext({ workspace });
    await workspace.put('d/secret.txt', 'mine');
    swapper = await startSwapper(workspace, 'd');
  });
  afterEach(async () => {
    swapper.stop();
    expect(await readdir(workspace.outside)).toEqual(['secret.txt']);
    expect(await readFile(join(workspace.outside, 'secret.txt'), 'utf8')).toBe(SECRET);
    await workspace.remove();
  });

  /**
   * Runs `times` calls, as many at once as a worker does, and up to `most` until both the folder and the link were met. Fails at
   * the first that shows anything of the outside.
   */
  async function race(times: number, call: (n: number) => ToolOutput | Promise<ToolOutput>, most = times): Promise<Seen> {
    const seen: Seen = { inside: 0, refused: 0 };
    let next = 0;
    const runner = async () => {
      for (let n = next++; n < times || (n < most && Math.min(seen.inside, seen.refused) === 0); n = next++) {
        const shown = await Promise.resolve(call(n)).then(JSON.stringify, messageOf);
        if (shown.includes(SECRET) || shown.includes(workspace.outside)) throw new Error(`call ${n} saw the outside: ${shown}`);
        if (shown.startsWith('refused: ')) seen.refused += 1;
        else seen.inside += 1;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, runner));
    return seen;
  }

  it('reads only inside or fails, 30,000 times, while a folder is swapped for a link to the outside [PP-32]', async () => {
    const tool = new FileReadTool();
    const seen = await race(30_000, () => tool.run({ path: 'd/secret.txt' }, ctx), 1_000_000);
    expect(seen.inside + seen.refused).toBeGreaterThanOrEqual(30_000);
    expect(seen.inside).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });

  it('changes and shows nothing outside in 2,000 writes, edits and lists while a folder is swapped for a link to the outside [PP-32]', async () => {
    const [write, edit, list] = [new FileWriteTool(), new FileEditTool(), new FileListTool()];
    const seen = await race(
      2_000,
      (n) => {
        if (n % 4 === 0) return write.run({ path: `d/planted-${n % 8}.txt`, content: 'planted' }, ctx);
        if (n % 4 === 1) return write.run({ path: 'd/secret.txt', content: 'mine' }, ctx);
        if (n % 4 === 2) return edit.run({ path: 'd/secret.txt', old_text: 'SECRET', new_text: 'broken', replace_all: false }, ctx);
        return list.run({ path: n % 8 === 3 ? '.' : 'd', max_depth: 3 }, ctx);
      },
      100_000,
    );
    expect(seen.inside).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });

  it('finds nothing outside in 60 searches and globs while a folder is swapped for a link to the outside [PP-32]', async () => {
    const [search, glob] = [new FileSearchTool(), new GlobTool()];
    const settings = { output_mode: 'content', literal: true, case_sensitive: true, context: 0, max_results: 100 } as const;
    await race(60, (n) =>
      n % 2 === 0
        ? search.run({ query: 'SECRET', path: n % 4 === 0 ? '.' : 'd', ...settings }, ctx)
        : glob.run({ pattern: '**/*', path: n % 4 === 1 ? '.' : 'd', limit: 100, max_depth: 30 }, ctx),
    );
  });
});

/** A refusal is a ToolError; anything else is a fault of the tool. */
function messageOf(error: unknown): string {
  if (!(error instanceof ToolError)) throw error;
  return `refused: ${error.message}`;
}
