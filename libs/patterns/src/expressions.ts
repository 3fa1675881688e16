import { LRUCache } from 'lru-cache';
import { RE2JS, RE2Set } from 're2js';
import { PATTERN_LIMITS, PatternError, type PatternFault } from './pattern-limits.js';

/**
 * A list of regular expressions in the syntax of RE2, matched in one pass over a text whose time grows linearly with its
 * length, whatever the expressions say.
 */
export interface Expressions {
  /** Unusable expressions with their errors. */
  readonly faults: readonly PatternFault[];
  /** Instructions of all that can be used. */
  readonly size: number;
  /** Expressions that match the whole text, in the order of the list. */
  readonly matching: (text: string) => readonly string[];
}

/** Most bytes of states that a list may store between matches. Beyond it matching continues without them, slower but still linear. */
const MOST_STATE_BYTES = 1_048_576;
/** The whole of each text: `^` and `$` are allowed and change nothing. */
const WHOLE = RE2Set.ANCHOR_BOTH;

const byList = new WeakMap<readonly string[], Expressions>();
const byText = new LRUCache<string, Expressions>({ maxSize: 1_000_000, sizeCalculation: ({ size }, text) => size + text.length + 100 });

/** Compiles a list of expressions, once for each list and once for each content. Never throws. Lists must not be changed. */
export function compileExpressions(patterns: readonly string[]): Expressions {
  const known = byList.get(patterns) ?? tooLong(patterns);
  if (known !== undefined) return known;
  // JSON, since a separator could be part of a pattern, and two lists would share one entry.
  const text = JSON.stringify(patterns);
  let list = byText.get(text);
  if (list === undefined) {
    list = compiled(patterns);
    byText.set(text, list);
  }
  byList.set(patterns, list);
  return list;
}

/** Result for a list with too many characters. Not cached, since nothing of such a list is compiled. */
function tooLong(patterns: readonly string[]): Expressions | undefined {
  let length = 0;
  for (const [index, pattern] of patterns.entries()) {
    length += pattern.length;
    if (length > PATTERN_LIMITS.listCharacters)
      return {
        faults: [{ index, message: `expected at most ${PATTERN_LIMITS.listCharacters} characters in the whole list` }],
        size: 0,
        matching: () => [],
      };
  }
  return undefined;
}

function compiled(patterns: readonly string[]): Expressions {
  const faults: PatternFault[] = [];
  const usable: string[] = [];
  const budget = new ListBudget(patterns.length);
  for (const [index, pattern] of patterns.entries()) {
    try {
      budget.spend(pattern);
      usable.push(pattern);
    } catch (error) {
      faults.push({ index, message: error instanceof Error ? error.message : String(error) });
      // Budget of the list exhausted: the remaining patterns are skipped.
      if (error instanceof ListError) break;
    }
  }
  const set = usable.length === 0 ? undefined : setOf(usable);
  return {
    faults,
    size: budget.size,
    matching: (text) => set?.match(text).flatMap((index) => usable[index] ?? []) ?? [],
  };
}

function setOf(patterns: readonly string[]): RE2Set {
  const set = new RE2Set(WHOLE, 0, MOST_STATE_BYTES);
  for (const pattern of patterns) set.add(pattern);
  set.compile();
  return set;
}

class ListError extends PatternError {}

/** Used part of the limits of a list. */
class ListBudget {
  size = 0;
  private patterns = 0;
  private readonly classes: ClassCosts = { unicode: 0, folded: 0 };
  /** Compiled instructions, including those of rejected expressions, since compiling them costs the same. */
  private compiled = 0;

  constructor(private readonly received: number) {}

  /** Checks the cheap limits first, so that nothing is compiled that could be large. @throws PatternError */
  spend(pattern: string): void {
    const { length, count, programSize, listProgramSize } = PATTERN_LIMITS;
    if (++this.patterns > count) throw new ListError(`expected at most ${count} patterns; received ${this.received}`);
    if (pattern.length > length) throw new PatternError(`expected at most ${length} characters; received ${pattern.length}`);
    if (pattern.includes('\0')) throw new PatternError('expected no NUL character; it is written \\x00');
    const { unicode, folded } = classCosts(pattern);
    this.classes.unicode += unicode;
    this.classes.folded += folded;
    const fault = classFault(this.classes);
    if (fault !== undefined) throw new ListError(`${fault} in the whole list`);
    if (maxProgramSize(pattern) > 4 * programSize) throw new PatternError('expected smaller counts of repetition');
    const size = programSizeOf(pattern);
    this.compiled += size;
    if (this.compiled > listProgramSize)
      throw new ListError(`expected expressions of at most ${listProgramSize} instructions in the whole list`);
    if (size > programSize) throw new PatternError(`expected an expression of at most ${programSize} instructions; it has ${size}`);
    this.size += size;
  }
}

function programSizeOf(pattern: string): number {
  try {
    return RE2JS.compile(pattern).programSize();
  } catch (error) {
    throw new PatternError(`expected a regular expression of RE2: ${reasonOf(error).slice(0, 200)}`);
  }
}

/** RE2's reason for rejecting an expression. */
export function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/^error parsing regexp: /, '');
}

/** No less than the instructions of the compiled expression: counts behind groups multiply all, others what they stand behind. */
export function maxProgramSize(pattern: string): number {
  let size = pattern.length;
  let groups = 1;
  for (const [, before, low = '0', high = ''] of pattern.matchAll(/(.)\{(\d{1,4})(?:,(\d{0,4}))?\}/gs)) {
    const count = Math.max(1, Number(low), Number(high));
    // A count behind another one (`a{9}{9}`) multiplies, too.
    if (before === ')' || before === '}') groups *= count;
    else size += count;
  }
  return size * groups;
}

/** Classes that are costly to compile whatever their length. */
export interface ClassCosts {
  unicode: number;
  folded: number;
}

/** No less than what RE2 finds: escapes and flags are not followed. */
export function classCosts(pattern: string): ClassCosts {
  const unicode = pattern.match(/\\p/gi)?.length ?? 0;
  if (!/\(\?[a-z-]*i/i.test(pattern)) return { unicode, folded: 0 };
  const wide = pattern.match(/-(?:[^ -~]|\\[x0-7])/g)?.length ?? 0;
  return { unicode, folded: unicode + wide };
}

export function classFault({ unicode, folded }: ClassCosts): string | undefined {
  const { unicodeClasses, foldedRanges } = PATTERN_LIMITS;
  if (unicode > unicodeClasses) return `expected at most ${unicodeClasses} Unicode classes (\\p)`;
  if (folded > foldedRanges)
    return `expected at most ${foldedRanges} ranges above ASCII and Unicode classes (\\p) where case is ignored (?i)`;
  return undefined;
}

/** The expression that matches exactly `text`. */
export function quoteExpression(text: string): string {
  return RE2JS.quote(text);
}
