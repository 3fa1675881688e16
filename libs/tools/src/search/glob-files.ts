import type { ToolContext } from '../tool.port.js';
import { isConfined } from './confine.js';
import { FileWitness } from './file-witness.js';
import { COMMON_ARGUMENTS, NEVER_SEARCHED, ripgrep } from './ripgrep.js';
import { shownPath, type SearchTarget } from './search-target.js';

export interface GlobRequest {
  readonly pattern: string;
  readonly target: SearchTarget;
  readonly maxDepth: number;
  readonly most: number;
  /** Also files that an ignore file excludes. */
  readonly ignored: boolean;
  readonly sort: 'path' | 'newest';
}

/** So many files are counted; a workspace with more gets its count cut there. */
const MOST_COUNTED = 100_000;

/**
 * Files that match a glob, by their paths from the workspace root. ripgrep's own matcher is linear in time, whatever the
 * pattern; but to ripgrep a glob outranks ignore files, so these are applied by asking a second time without the glob.
 */
export async function globFiles(
  { pattern, target, maxDepth, most, ignored, sort }: GlobRequest,
  ctx: ToolContext,
): Promise<{ files: string[]; total: number }> {
  const common = ['--files', '--null', ...COMMON_ARGUMENTS, '--max-depth', String(maxDepth)];
  const order = sort === 'newest' ? ['--sortr', 'modified'] : ['--sort', 'path'];
  const list = (args: readonly string[]): AsyncGenerator<string> =>
    ripgrep({ args: [...common, ...args, ...NEVER_SEARCHED, '--', target.argument], root: ctx.workspace.root, separator: '\0' }, ctx);

  const witness = (await isConfined(ctx)) ? undefined : new FileWitness(ctx);
  const kept = ignored ? undefined : await setOf(list([]));
  const files: string[] = [];
  let total = 0;
  for await (const file of list(['--no-ignore', '--glob', pattern, ...order])) {
    if (kept && !kept.has(file)) continue;
    if (witness && total < most && !(await witness.hasFile(file))) continue;
    total += 1;
    if (files.length < most) files.push(shownPath(file));
    if (total === MOST_COUNTED) break;
  }
  return { files, total };
}

async function setOf(files: AsyncGenerator<string>): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const file of files) {
    found.add(file);
    if (found.size === MOST_COUNTED) break;
  }
  return found;
}
