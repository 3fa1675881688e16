import { lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ToolContext } from '#tool-sdk';
import { isRipgrepSandboxed } from './sandboxed-ripgrep.js';
import { DeniedResults } from './denied-results.js';
import { ReadVerifier } from './read-verifier.js';
import { COMMON_ARGUMENTS, NEVER_SEARCHED, ripgrep } from './ripgrep.js';
import { displayPath, type SearchTarget } from './search-target.js';

export interface GlobRequest {
  readonly pattern: string;
  readonly target: SearchTarget;
  readonly maxDepth: number;
  readonly most: number;
  /** Includes files that an ignore file excludes. */
  readonly ignored: boolean;
  readonly sort: 'path' | 'newest';
}

export interface GlobResult {
  readonly files: string[];
  readonly total: number;
  /** True if ignore files excluded matching files; known only if nothing was found. */
  readonly ignoredMatches: boolean;
}

/** Most counted files; the count of a larger workspace stops there. */
const MOST_COUNTED = 100_000;
const STATS_AT_ONCE = 64;

/**
 * Files that match a glob, by their paths from the workspace root. ripgrep's own matcher is linear in time, whatever the
 * pattern; but to ripgrep a glob outranks ignore files, so these are applied by asking a second time without the glob.
 */
export async function globFiles({ pattern, target, maxDepth, most, ignored, sort }: GlobRequest, ctx: ToolContext): Promise<GlobResult> {
  const common = ['--files', '--null', ...COMMON_ARGUMENTS, '--max-depth', String(maxDepth)];
  // Sorts by path only: by time, ripgrep sorts within each folder and reads every file of the workspace repeatedly.
  const order = sort === 'newest' ? [] : ['--sort', 'path'];
  const list = (args: readonly string[]): AsyncGenerator<string> =>
    ripgrep({ args: [...common, ...args, ...NEVER_SEARCHED, '--', target.argument], root: target.root, separator: '\0' }, ctx);

  const witness = (await isRipgrepSandboxed(ctx)) ? undefined : new ReadVerifier(target, ctx);
  const denied = new DeniedResults(target, ctx);
  const kept = ignored ? undefined : await setOf(list([]));
  const files: string[] = [];
  let total = 0;
  let ignoredMatches = false;
  for await (const file of list(['--no-ignore', '--glob', pattern, ...order])) {
    const isIgnored = kept !== undefined && !kept.has(file);
    if (isIgnored && (ignoredMatches || total > 0 || kept.size === MOST_COUNTED)) continue;
    if (!(await denied.allows(file))) continue;
    if (witness && total < most && !(await witness.hasFile(file))) continue;
    if (isIgnored) {
      ignoredMatches = true;
      continue;
    }
    total += 1;
    if (sort === 'newest' || files.length < most) files.push(displayPath(file, target.prefix));
    if (total === MOST_COUNTED) break;
  }
  return { files: sort === 'newest' ? (await newestFirst(files, ctx)).slice(0, most) : files, total, ignoredMatches };
}

/** Sorts by modification time, then by path. A file that was deleted meanwhile is last. */
async function newestFirst(files: readonly string[], { workspace, signal }: Pick<ToolContext, 'workspace' | 'signal'>): Promise<string[]> {
  const dated: { file: string; at: number }[] = [];
  for (let from = 0; from < files.length; from += STATS_AT_ONCE) {
    signal.throwIfAborted();
    dated.push(...(await Promise.all(files.slice(from, from + STATS_AT_ONCE).map((file) => withDate(workspace.root, file)))));
  }
  return dated.sort((a, b) => b.at - a.at || (a.file < b.file ? -1 : 1)).map(({ file }) => file);
}

async function withDate(root: string, file: string): Promise<{ file: string; at: number }> {
  const stats = await lstat(resolve(root, file)).catch(() => undefined);
  return { file, at: stats?.mtimeMs ?? 0 };
}

async function setOf(files: AsyncGenerator<string>): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const file of files) {
    found.add(file);
    if (found.size === MOST_COUNTED) break;
  }
  return found;
}
