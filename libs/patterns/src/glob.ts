import { LRUCache } from 'lru-cache';
import { expandBraces } from './glob-expansion.js';
import { checkSyntax, readSegment, segmentMatches, type Segment } from './glob-segment.js';
import { PATTERN_LIMITS, PatternError, type PatternFault } from './pattern-limits.js';

/** A compiled glob. Matching takes at most (`size`) × (characters of the text) steps, whatever they are. */
export interface Glob {
  /** True if the whole text matches. */
  matches(text: string): boolean;
  /** True if the path or a folder above it matches. The empty path is the base folder of relative paths. */
  covers(path: string): boolean;
  /** Characters with braces written out; 0 for a plain text. */
  readonly size: number;
}

const SPECIAL = /[*?[{\\()"]/;

const remembered = new LRUCache<string, Glob | PatternError>({
  maxSize: 2_000_000,
  sizeCalculation: (it, pattern) => (it instanceof PatternError ? 0 : it.size) + pattern.length + 100,
});

/**
 * Compiles a glob, once for each text.
 * - `*` any characters of a name, `?` one of them, `[a-c]` and `[^a]` one of a class; none of them matches a slash
 * - `**` as a whole name: any number of names, also none
 * - `{a,b}` either; braces nest and may have slashes in them
 * - `\` before a character makes it plain text; so is a `!` in front, and a name that begins with a dot is a name like others
 *
 * Matches the glob itself as plain text, too. @throws PatternError when it is too long or has syntax that is not supported
 */
export function compileGlob(pattern: string): Glob {
  const glob = globOrFault(pattern);
  if (glob instanceof PatternError) throw glob;
  return glob;
}

/** Same as `compileGlob`, with the error as a value. */
export function globOrFault(pattern: string): Glob | PatternError {
  if (pattern.length > PATTERN_LIMITS.length)
    return new PatternError(`expected at most ${PATTERN_LIMITS.length} characters; received ${pattern.length}`);
  const known = remembered.get(pattern);
  if (known !== undefined) return known;
  let read: Glob | PatternError;
  try {
    read = compiled(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    read = error;
  }
  remembered.set(pattern, read);
  return read;
}

/** True if a glob matches the whole text; an invalid glob matches its own text only. */
export function globMatches(pattern: string, text: string): boolean {
  // Most patterns of tools are names: looking them up would cost more than comparing them.
  if (pattern === text || !SPECIAL.test(pattern)) return pattern === text;
  const glob = globOrFault(pattern);
  return glob instanceof PatternError ? text === pattern : glob.matches(text);
}

/** Errors of the globs of one list, of each alone and of all together. */
export function globFaults(patterns: readonly string[]): PatternFault[] {
  if (patterns.length > PATTERN_LIMITS.count)
    return [{ index: PATTERN_LIMITS.count, message: `expected at most ${PATTERN_LIMITS.count} patterns; received ${patterns.length}` }];
  const faults: PatternFault[] = [];
  let length = 0;
  for (const [index, pattern] of patterns.entries()) {
    const glob = globOrFault(pattern);
    if (glob instanceof PatternError) faults.push({ index, message: glob.message });
    else length += glob.size;
    if (length > PATTERN_LIMITS.listLength)
      return [...faults, { index, message: `expected globs of at most ${PATTERN_LIMITS.listLength} characters in the whole list` }];
  }
  return faults;
}

function compiled(pattern: string): Glob {
  if (!SPECIAL.test(pattern)) return plain(pattern);
  checkSyntax(pattern);
  const expanded = expandBraces(pattern);
  const alternatives = expanded.map(partsOf);
  const anyMatches = (names: readonly string[], prefix: boolean) => alternatives.some((parts) => namesMatch(parts, names, prefix));
  const itself = plain(pattern);
  return {
    matches: (text) => itself.matches(text) || anyMatches(text.split('/'), false),
    covers: (path) => itself.covers(path) || anyMatches(path === '' ? [] : path.split('/'), true),
    size: expanded.reduce((sum, it) => sum + it.length, 0),
  };
}

function plain(pattern: string): Glob {
  const below = `${pattern}/`;
  return {
    matches: (text) => text === pattern,
    covers: (path) => path === pattern || path.startsWith(below),
    size: 0,
  };
}

const ANY_NAMES = null;
type Part = Segment | typeof ANY_NAMES;

function partsOf(pattern: string): Part[] {
  const names = pattern.split('/').filter((name, index, all) => name !== '**' || all[index - 1] !== '**');
  const parts = names.map((name): Part => (name === '**' ? ANY_NAMES : readSegment(name)));
  // `src/**` is also `src` itself, but `src/*/**` is nothing that lies in `src`.
  return names.at(-1) === '**' && /(?:^|[^\\])\*$/.test(names.at(-2) ?? '') ? [...parts, readSegment('*')] : parts;
}

/**
 * Algorithm of `segmentMatches` with `**` for the star and names for characters. With `prefix`, a match of the first names
 * suffices.
 */
function namesMatch(parts: readonly Part[], names: readonly string[], prefix: boolean): boolean {
  let part = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  for (;;) {
    if (part === parts.length && (prefix || at === names.length)) return true;
    const wanted = parts[part];
    const name = names[at];
    if (wanted === ANY_NAMES) {
      star = part++;
      starAt = at;
    } else if (wanted !== undefined && name !== undefined && segmentMatches(wanted, name)) {
      part++;
      at++;
    } else {
      if (star === -1 || starAt >= names.length) return false;
      part = star + 1;
      at = ++starAt;
    }
  }
}
