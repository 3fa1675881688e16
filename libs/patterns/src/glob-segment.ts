import { classEnd, skipAtom } from './glob-expansion.js';
import { PatternError } from './pattern-limits.js';

interface CharacterClass {
  readonly negated: boolean;
  /** Pairs of first and last code unit. */
  readonly ranges: readonly (readonly [number, number])[];
}

/** `*`, `?`, a code unit, or a class of them. */
type Token = '*' | '?' | number | CharacterClass;

/** Pattern of one name between slashes; a string if the name has no special characters. */
export type Segment = string | readonly Token[];

/** A regular expression for other programs. */
const GROUP = /^(?:[@!+*?]?\(|\))/;

/** @throws PatternError for characters that are plain here, but special to other programs */
export function checkSyntax(pattern: string): void {
  let before = '';
  for (let at = 0; at < pattern.length;) {
    if (GROUP.test(pattern.slice(at, at + 2)))
      throw new PatternError(`expected {a,b} in place of "${pattern.slice(at, at + 20)}"; a parenthesis in a name is written \\( or \\)`);
    if (pattern[at] === '"') throw new PatternError('expected \\" in place of "');
    if (pattern[at] === '+' && /^(?!\\).*[\]}]$/s.test(before))
      throw new PatternError(`expected \\+ in place of + behind ${before.slice(-1)}`);
    const next = skipAtom(pattern, at);
    before = pattern.slice(at, next);
    at = next;
  }
}

/** Reads one segment of a glob without braces. @throws PatternError for syntax that is not supported */
export function readSegment(source: string): Segment {
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    const char = source[at];
    const end = char === '[' ? classEnd(source, at) : undefined;
    if (end !== undefined) {
      tokens.push(readClass(source.slice(at + 1, end - 1)));
      at = end;
    } else if (char === '\\' && at + 1 < source.length) {
      tokens.push(source.charCodeAt(at + 1));
      at += 2;
    } else {
      if (char === '?') tokens.push('?');
      else if (char !== '*') tokens.push(source.charCodeAt(at));
      else if (tokens.at(-1) !== '*') tokens.push('*');
      at++;
    }
  }
  if (!tokens.every((token) => typeof token === 'number')) return tokens;
  return tokens.map((code) => String.fromCharCode(code)).join('');
}

/** Reads the content of the brackets in `[a-c]` or `[^a]`. */
function readClass(source: string): CharacterClass {
  if (source.startsWith('!')) throw new PatternError(`expected [^${source.slice(1)}] in place of [${source}]`);
  const negated = source.startsWith('^');
  const codes: { readonly code: number; readonly dash: boolean }[] = [];
  for (let at = negated ? 1 : 0; at < source.length; at++) {
    const escaped = source[at] === '\\' && at + 1 < source.length;
    if (escaped) at++;
    codes.push({ code: source.charCodeAt(at), dash: !escaped && source[at] === '-' });
  }
  const ranges: (readonly [number, number])[] = [];
  for (let at = 0; at < codes.length; at++) {
    const first = codes[at]?.code ?? 0;
    const last = codes[at + 1]?.dash === true ? codes[at + 2]?.code : undefined;
    if (last === undefined) ranges.push([first, first]);
    else {
      if (last < first) throw new PatternError(`expected a range from low to high in [${source}]`);
      ranges.push([first, last]);
      at += 2;
    }
  }
  return { negated, ranges };
}

/** True if the whole name matches. Time: at most length of the segment times length of the name. */
export function segmentMatches(segment: Segment, name: string): boolean {
  if (typeof segment === 'string') return segment === name;
  let token = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < name.length) {
    const wanted = segment[token];
    if (wanted === '*') {
      star = token++;
      starAt = at;
    } else if (wanted !== undefined && accepts(wanted, name.charCodeAt(at))) {
      token++;
      at++;
    } else if (star !== -1) {
      // Only the last star is extended: earlier parts match at the earliest position, which is always safe.
      token = star + 1;
      at = ++starAt;
    } else return false;
  }
  while (segment[token] === '*') token++;
  // A star alone is a name, and no name is empty.
  return token === segment.length && name !== '';
}

function accepts(token: Exclude<Token, '*'>, code: number): boolean {
  if (typeof token === 'number') return token === code;
  if (token === '?') return true;
  for (const [first, last] of token.ranges) if (code >= first && code <= last) return !token.negated;
  return token.negated;
}
