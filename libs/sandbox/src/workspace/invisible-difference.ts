/** Longer texts are not compared: each letter is an object for a moment. */
const MOST_CHARACTERS = 500_000;
const SHOWN_DIFFERENCES = 3;
const SHOWN_CHARACTERS = 4;
/** Letters that one is shown as: an ellipsis has three. */
const MOST_LOOKS = 8;

/**
 * Letters as people see them, each with what belongs to it: spaces in front of a line end, a run of spaces, marks and characters
 * that are not seen.
 */
const UNITS =
  /\p{Default_Ignorable_Code_Point}*(?:[^\S\n\r\u2028\u2029]*(?:\r?\n|[\r\u2028\u2029])|[^\S\n\r\u2028\u2029]+|.)[\p{M}\p{Default_Ignorable_Code_Point}]*/gsu;
/** Runs of spaces within a line: similar lines show them. */
const ARE_SEEN = /^ +\/ +$/;
const LOOKS: readonly (readonly [characters: RegExp, as: string])[] = [
  [/\p{Default_Ignorable_Code_Point}/gu, ''],
  [/[\u2018\u2019\u201A\u201B\u2032\u02B9\u02BC\u0060\u00B4]/g, "'"],
  [/[\u201C\u201D\u201E\u201F\u2033\u00AB\u00BB]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, '-'],
];
/** Letters of Cyrillic and Greek, and the Latin ones that they look like. */
const ALIKE = new Map(
  Array.from(
    'асеорхуіјѕһАВСЕНІЈКМОРЅТХУΑΒΕΗΙΚΜΝΟΡΤΥΧΖοα',
    (letter, at) => [letter, 'aceopxyijshABCEHIJKMOPSTXYABEHIKMNOPTYXZoa'[at] ?? letter] as const,
  ),
);
/** All that ends a line somewhere. */
const LINE_ENDS = /[\n\r\u2028\u2029]/;
const NAMES: Readonly<Record<string, string>> = {
  '\t': 'tab',
  '\n': 'line feed',
  '\r': 'carriage return',
  ' ': 'space',
  '\u00A0': 'no-break space',
  '\u200B': 'zero width space',
  '\u2028': 'line separator',
  '\u202F': 'narrow no-break space',
  '\u3000': 'ideographic space',
  '\uFEFF': 'byte order mark',
};

/** A text as it looks, and of each of its characters where it comes from. */
interface Looks {
  readonly text: string;
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/**
 * Characters in which the wanted text differs from a place of the text that looks the same: kinds of spaces, quotes and dashes,
 * tabs, spaces at the end of lines, line ends, accents in another Unicode form. Undefined if no place looks the same. Columns
 * count characters, from 1. `what` names the source of the wanted text, for the message.
 */
export function invisibleDifference(text: string, wanted: string, what: string): string | undefined {
  if (text.length + wanted.length > MOST_CHARACTERS) return undefined;
  const [there, sought] = [looksOf(text), looksOf(wanted.replace(/[^\S\n]+$/, ''))];
  const at = sought.text.trim() === '' ? -1 : there.text.indexOf(sought.text);
  if (at === -1) return undefined;
  const found: string[] = [];
  let seen = -1;
  for (let index = 0; index < sought.text.length; index += 1) {
    const [start, end] = [there.from[at + index] ?? 0, there.to[at + index] ?? 0];
    const width = there.from.slice(at + index, at + index + MOST_LOOKS).filter((it) => it === start).length;
    const last = Math.min(index + width, sought.text.length) - 1;
    const [here, other] = [text.slice(start, end), wanted.slice(sought.from[index], sought.to[last])];
    if (here === other || start === seen || ARE_SEEN.test(`${here}/${other}`)) continue;
    seen = start;
    found.push(differenceText(text.slice(0, start), here, other, what));
  }
  if (found.length === 0) return undefined;
  const more = found.length > SHOWN_DIFFERENCES ? `, and ${found.length - SHOWN_DIFFERENCES} more` : '';
  return `It looks like a place of the file, but ${found.slice(0, SHOWN_DIFFERENCES).join('; ')}${more}. Write it as in the file.`;
}

function looksOf(text: string): Looks {
  const from: number[] = [];
  const to: number[] = [];
  const pieces: string[] = [];
  for (const { 0: unit, index } of text.matchAll(UNITS)) {
    const look = lookOf(unit);
    pieces.push(look);
    for (let count = 0; count < look.length; count += 1) {
      from.push(index);
      to.push(index + unit.length);
    }
  }
  return { text: pieces.join(''), from, to };
}

function lookOf(unit: string): string {
  if (unit.length === 1 && unit >= '!' && unit <= '~' && unit !== '`') return unit;
  const plain = LOOKS.reduce((text, [characters, as]) => text.replace(characters, as), unit);
  if (LINE_ENDS.test(plain)) return '\n';
  return (ALIKE.get(plain) ?? plain).normalize('NFKD').replace(/\s+/g, ' ');
}

/** Text of the difference, without the common beginning and end. */
function differenceText(before: string, here: string, other: string, what: string): string {
  const [ours, theirs] = [Array.from(here), Array.from(other)];
  let line = before.split('\n').length;
  let column = Array.from(before.slice(before.lastIndexOf('\n') + 1)).length + 1;
  while (ours.length > 0 && theirs.length > 0 && ours[0] === theirs[0] && !/\p{M}/u.test(ours[1] ?? theirs[1] ?? '')) {
    if (ours[0] === '\n') [line, column] = [line + 1, 0];
    [ours, theirs].forEach((it) => it.shift());
    column += 1;
  }
  while (ours.length > 0 && theirs.length > 0 && ours.at(-1) === theirs.at(-1)) [ours, theirs].forEach((it) => it.pop());
  return `line ${line} has ${codesOf(ours)} at column ${column}${nameOf(ours)}, where ${what} has ${codesOf(theirs)}${nameOf(theirs)}`;
}

function codesOf(characters: readonly string[]): string {
  const [first] = characters;
  if (first === undefined) return 'nothing';
  if (characters.length > 1 && isRun(characters)) return `${characters.length} times ${codesOf([first])}`;
  const codes = characters.map((it) => `U+${(it.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`);
  return codes.slice(0, SHOWN_CHARACTERS).join(' ');
}

function nameOf(characters: readonly string[]): string {
  const [first = ''] = characters;
  const name = NAMES[first] ?? (/[\p{L}\p{P}\p{S}]/u.test(first) ? first : '');
  return name === '' || !isRun(characters) ? '' : ` (${name})`;
}

function isRun(characters: readonly string[]): boolean {
  return characters.every((it) => it === characters[0]);
}
