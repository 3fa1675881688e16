import { LRUCache } from 'lru-cache';
import { globOrFault, PatternError, type Glob } from '#patterns';
import { isWithin, normalizePath } from './lexical-path.js';

/** A glob of paths, with `.` and `..` in it worked out. */
interface PathPattern {
  /** Number of folders above the workspace at which the pattern begins; undefined if it begins at `/` or `~`. */
  readonly up: number | undefined;
  /** Undefined for the folder that it begins at. */
  readonly glob: Glob | PatternError | undefined;
}

const remembered = new LRUCache<string, PathPattern>({ max: 5_000 });

/** The characters that its globs cost for each character of a path. */
export function sizeOfPathPatterns(patterns: readonly string[]): number {
  let size = 0;
  for (const pattern of patterns) {
    const { glob } = pathPattern(pattern);
    if (glob !== undefined && !(glob instanceof PatternError)) size += glob.size;
  }
  return size;
}

/**
 * True if a glob of a grant or a policy covers the path: its matches and everything below. Relative globs begin at the
 * workspace. `refused`: result for an invalid glob, true in forbidding lists. Paths are settled.
 */
export function coversPath(pattern: string, at: string, workspaceRoot: string, refused: boolean): boolean {
  const { up, glob } = pathPattern(pattern);
  if (glob instanceof PatternError) return refused;
  if (up === undefined) return glob === undefined || glob.covers(at);
  const root = normalizePath(`${workspaceRoot}${'/..'.repeat(up)}`);
  if (!isWithin(at, root)) return false;
  return glob === undefined || glob.covers(root === '/' ? at.slice(1) : at.slice(root.length + 1));
}

function pathPattern(pattern: string): PathPattern {
  let known = remembered.get(pattern);
  if (known === undefined) {
    known = read(pattern);
    remembered.set(pattern, known);
  }
  return known;
}

function read(pattern: string): PathPattern {
  if (pattern.startsWith('/') || pattern.startsWith('~')) return { up: undefined, glob: globOrFault(normalizePath(pattern)) };
  let up = 0;
  const names: string[] = [];
  for (const name of pattern.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) up++;
  }
  return { up, glob: names.length === 0 ? undefined : globOrFault(names.join('/')) };
}
