import { PATTERN_LIMITS, PatternError } from './pattern-limits.js';

const MOST_ALTERNATIVES = 100;

/**
 * A glob with its braces written out: `a{b,c}` gives `ab` and `ac`. Braces without a comma, and unclosed ones, are plain text.
 * Escapes and character classes are left as they are. @throws PatternError when the alternatives are too many or too long
 */
export function expandBraces(pattern: string): string[] {
  const expanded = alternativesOf(pattern);
  const length = expanded.reduce((sum, it) => sum + it.length, 0);
  if (length > PATTERN_LIMITS.expandedLength)
    throw new PatternError(`expected at most ${PATTERN_LIMITS.expandedLength} characters with braces written out; received ${length}`);
  return expanded;
}

function alternativesOf(pattern: string): string[] {
  for (let at = 0; at < pattern.length; at = skipAtom(pattern, at)) {
    if (pattern[at] !== '{') continue;
    const parts = partsOf(pattern, at);
    if (parts === undefined) continue;
    const head = pattern.slice(0, at);
    // The head has no braces left; each part and the rest may have more.
    const inner = parts.texts.flatMap(alternativesOf);
    const rest = alternativesOf(pattern.slice(parts.end));
    if (inner.length * rest.length > MOST_ALTERNATIVES)
      throw new PatternError(`expected braces with at most ${MOST_ALTERNATIVES} alternatives; received ${inner.length * rest.length}`);
    return inner.flatMap((middle) => rest.map((tail) => joined(joined(head, middle), tail)));
  }
  return [pattern];
}

/** Stars that meet only because braces are written out are one star, not the `**` that means folders. */
function joined(left: string, right: string): string {
  return left.endsWith('*') && !left.endsWith('\\*') ? left + right.replace(/^\*+/, '') : left + right;
}

/** The alternatives between the brace at `open` and its end; undefined when it is plain text. */
function partsOf(pattern: string, open: number): { readonly texts: readonly string[]; readonly end: number } | undefined {
  const texts: string[] = [];
  let depth = 0;
  let from = open + 1;
  for (let at = open; at < pattern.length; at = skipAtom(pattern, at)) {
    const char = pattern[at];
    if (char === '{') depth++;
    else if (char === ',' && depth === 1) {
      texts.push(pattern.slice(from, at));
      from = at + 1;
    } else if (char === '}' && --depth === 0) {
      texts.push(pattern.slice(from, at));
      if (texts.length > 1) return { texts, end: at + 1 };
      if (pattern.slice(from, at).includes('..'))
        throw new PatternError(`expected alternatives such as {a,b} in place of the range ${pattern.slice(open, at + 1)}`);
      return undefined;
    }
  }
  return undefined;
}

/** Behind the character, escape or class at `at`. */
export function skipAtom(pattern: string, at: number): number {
  if (pattern[at] === '\\') return at + 2;
  return (pattern[at] === '[' ? classEnd(pattern, at) : undefined) ?? at + 1;
}

/** Behind the class that begins at `open`; undefined when it is not closed within its segment, and a plain bracket. */
export function classEnd(pattern: string, open: number): number | undefined {
  let at = open + 1;
  if (pattern[at] === '!' || pattern[at] === '^') at++;
  const first = at;
  for (; at < pattern.length && pattern[at] !== '/'; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern[at] === ']' && at > first) return at + 1;
  }
  return undefined;
}
