/**
 * Parses JSON without rounding. A number that JavaScript would write differently, such as a 64-bit id, 0.1234567890123456789 or
 * 1e400, becomes a string of its original digits. A byte order mark is ignored (RFC 8259, 8.1). Own code: packages for it
 * return objects or big integers in place of strings, and the source text of `JSON.parse` needs Node 22.
 * @throws SyntaxError for malformed JSON
 */
export function parseExactJson(marked: string): unknown {
  const text = marked.startsWith('\ufeff') ? marked.slice(1) : marked;
  const value: unknown = JSON.parse(text);
  if (!mayBeInexact(text)) return value;
  return JSON.parse(text.replace(TOKEN, (token) => (token.startsWith('"') || isExact(token) ? token : `"${token}"`)));
}

/** False for JSON text of which `parseExactJson` makes the same as `JSON.parse`. */
export const mayBeInexact = (text: string): boolean => MAYBE_INEXACT.test(text);

/** True for the text of a JSON number that a double cannot represent exactly, or of an integer beyond the safe ones. */
export function isExactNumberText(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_CHARACTERS || !NUMBER.test(value)) return false;
  return !isExact(value) || (Number.isInteger(Number(value)) && !Number.isSafeInteger(Number(value)));
}

/** Pattern of possibly inexact numbers: a double represents any 15 digits exactly. */
const MAYBE_INEXACT = /\d[\d.]{15}|\d[eE]/;
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const MAX_CHARACTERS = 1_000;

function isExact(number: string): boolean {
  return normalized(number) === normalized(String(Number(number)));
}

/** Canonical form of a number's text: sign, digits without zeros around them, power of ten. */
function normalized(number: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] = /^(-?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const all = whole + fraction;
  const digits = all.replace(/^0+/, '');
  if (digits === '') return whole === '' ? number : '0';
  const significant = digits.slice(0, lengthWithoutZeros(digits));
  return `${sign}${significant}e${Number(power) - fraction.length + digits.length - significant.length}`;
}

/** Length without trailing zeros. A pattern such as `0+$` would begin again at each zero: minutes for a number of a million digits. */
function lengthWithoutZeros(digits: string): number {
  let length = digits.length;
  while (digits[length - 1] === '0') length -= 1;
  return length;
}
