import { hasCode } from './char-set.js';
import { TOKEN_CHARS } from './random-token.js';
import type { SecretNames } from './secret-names.js';

/** Pairs of characters of which the second is a place to look at. */
export interface Pair {
  readonly before: number;
  readonly code: number;
}

interface Places {
  readonly names: SecretNames;
  readonly pairs: readonly Pair[];
  /** Characters beyond ASCII that are worth a look by themselves. */
  readonly wide: readonly number[];
  readonly entropy: boolean;
}

/** Characters between a name and its operator. */
const GAP = ' "\'`\\]:';

/**
 * Matches each single character where a look may tell a secret, by the characters beside it, and turns all others away:
 * one run of a compiled pattern costs a third of a loop in JavaScript. At the end of a text it keeps what more text may
 * make worth a look.
 */
export function candidateOffsets({ names, pairs, wide, entropy }: Places): RegExp {
  const ascii = [...Array(128).keys()];
  const operators = oneOf([...ascii.filter((code) => names.mayEndWith(code)), ...codesOf(GAP)]);
  const tokens = oneOf(ascii.filter((code) => hasCode(TOKEN_CHARS, code)));
  const behind = [
    // name=value, "name": value
    `${operators}[=:]`,
    // --name value
    '(?:^|[^-])--',
    ...groups(pairs).map(([first, second]) => first + second),
    ...(entropy ? [`(?:^|[^${tokens.slice(1)})${tokens}`] : []),
  ];
  // scheme://user:password@host, and `Bearer`
  const word = entropy ? '' : '(?:^|[^A-Za-z])';
  const ahead = ['(?<=:)(?=$|/)', `(?<=${word}[Bb])(?=$|[Ee](?:$|[Aa]))`];
  const places = oneOf([
    ...codesOf('=:-Bb'),
    ...pairs.map(({ code }) => code),
    ...(entropy ? ascii.filter((code) => hasCode(TOKEN_CHARS, code)) : []),
  ]);
  const byNeighbours = `${places}(?:(?<=${behind.join('|')})|${ahead.join('|')})`;
  // oxlint-disable-next-line no-restricted-globals -- code units of a fixed table and of names that the config schema limits to letters
  return new RegExp(wide.length === 0 ? byNeighbours : `${oneOf(wide)}|${byNeighbours}`, 'g');
}

/** Classes of first and second characters that make the same pairs: fewer alternatives to try. */
function groups(pairs: readonly Pair[]): [string, string][] {
  const firsts = new Map<number, number[]>();
  for (const { before, code } of pairs) firsts.set(code, [...(firsts.get(code) ?? []), before]);
  const seconds = new Map<string, number[]>();
  for (const [code, before] of firsts) {
    const first = oneOf([...new Set(before)].sort((a, b) => a - b));
    seconds.set(first, [...(seconds.get(first) ?? []), code]);
  }
  return [...seconds].map(([first, codes]) => [first, oneOf(codes)]);
}

function oneOf(codes: readonly number[]): string {
  return `[${[...new Set(codes)].map((code) => String.raw`\u${code.toString(16).padStart(4, '0')}`).join('')}]`;
}

function codesOf(text: string): number[] {
  return Array.from(text, (character) => character.charCodeAt(0));
}
