/** A name in a text that may not be what it looks like. */
export interface LookAlike {
  readonly at: number;
  readonly text: string;
  /** Reason for people: `Latin and Cyrillic: U+0430`. */
  readonly note: string;
}

const SCRIPTS = [
  ['Latin', /\p{Script=Latin}/u],
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Greek', /\p{Script=Greek}/u],
] as const;
const FOREIGN = /[\p{Script=Cyrillic}\p{Script=Greek}]/gu;
const SUSPECT = /[\p{Script=Cyrillic}\p{Script=Greek}]|xn--/iu;
/** Words with dots between them, as host names and files have them. */
const NAME = /[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)*/gu;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const PUNYCODE = /(?:^|\.)xn--/i;
/** A label of letters that all look like Latin ones; browsers show no such host name either (Chromium's IDN spoof checker). */
const AS_LATIN = /(?:^|\.)(?:[асԁеһіјӏорԛѕԝхуъьҽпгѵѡ]+|[αικνρυωηοτ]+)(?:\.|$)/iu;
/** Units with a Greek letter, by the SI brochure: ohm (also as U+2126) and micro, such as `4k\u03a9` and `10\u03bcs`. */
const UNIT = /^\d*(?:[nmkMGT]?[\u03a9\u2126]|\u03bc(?:[smgAVWFHJNTlL]|mol|Pa|Hz))$/u;
const MOST_LETTERS = 4;

/**
 * Words that mix Latin letters with Cyrillic or Greek ones, host names with such labels, and host names in punycode, in order.
 * A host name is the text after `//` or `@`, or a name with dots and a label of letters that only look Latin. Excludes texts in
 * one alphabet, and units such as `kΩ`.
 */
export function lookAlikes(text: string): LookAlike[] {
  if (!SUSPECT.test(text)) return [];
  return [...text.matchAll(NAME)].flatMap(({ index: at, 0: name }) => {
    if (PUNYCODE.test(name)) return [{ at, text: name, note: 'punycode' }];
    if (!isMixed(name)) return [];
    const isHost = /(?:\/\/|@)$/.test(text.slice(Math.max(0, at - 2), at)) || AS_LATIN.test(name);
    if (isHost) return [{ at, text: name, note: noteOf(name) }];
    const words = [...name.matchAll(WORD)].filter(([word]) => isMixed(word) && !UNIT.test(word));
    return words.map(({ index, 0: word }) => ({ at: at + index, text: word, note: noteOf(word) }));
  });
}

function isMixed(name: string): boolean {
  return scriptsOf(name).length > 1;
}

function scriptsOf(name: string): string[] {
  return SCRIPTS.flatMap(([script, letter]) => (letter.test(name) ? [script] : []));
}

function noteOf(name: string): string {
  const letters = [...new Set(name.match(FOREIGN))].map((letter) => codeText(letter.codePointAt(0) ?? 0));
  const more = letters.length > MOST_LETTERS ? ' …' : '';
  return `${scriptsOf(name).join(' and ')}: ${letters.slice(0, MOST_LETTERS).join(' ')}${more}`;
}

/** `U+202E`. */
export function codeText(codePoint: number): string {
  return `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
}
