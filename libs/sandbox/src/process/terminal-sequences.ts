/* oxlint-disable no-control-regex -- Control characters are what this file is about. */

const IN_STRING = '[^\\x07\\x1b\\x90\\x98\\x9c-\\x9f\\n]{0,4096}';
/** Sequences, whole or broken off (ECMA-48). The last byte of a control sequence is the first group, of an escape the second. */
// oxlint-disable-next-line no-restricted-globals -- constants of this file
const SEQUENCES = new RegExp(
  `(?:\\x1b\\[|\\x9b)[0-?]{0,64}[ -/]{0,8}([@-~]?)|(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d-\\x9f])${IN_STRING}(?:\\x07|\\x1b\\\\|\\x9c)?|\\x1b[ -/]{0,8}([0-~]?)|[\\x07\\x80-\\x9f]`,
  'g',
);
// oxlint-disable-next-line no-restricted-globals -- constants of this file
const OPEN_END = new RegExp(
  `(?:\\x1b(?:\\[[0-?]{0,64}[ -/]{0,8}|[\\]PX^_]${IN_STRING}\\x1b?|[ -/]{0,8})|\\x9b[0-?]{0,64}[ -/]{0,8}|[\\x90\\x98\\x9d-\\x9f]${IN_STRING}\\x1b?)$`,
);
const MAY_BE_OPEN = /[\x1b\x80-\x9f]/;
const LONGEST_OPEN = 4_100;
/** Ignored by terminals wherever they stand. */
const IGNORED = /[\0-\x06\x0e-\x1a\x1c-\x1f\x7f]/g;

/** Last bytes of control sequences that move the cursor or erase. */
const MOVES = new Set('ABCDEFGHJK`dfsu');
/** The same of escapes: a new terminal, a saved and a restored cursor. */
const ESCAPES = new Set('c78');

/** The rest that `onlyEffects` leaves: returns, backspaces, and sequences by their parameters and last byte. */
export const EFFECTS = /[\r\x08]|(?:\x1b\[|\x9b)([0-?]{0,64})[ -/]{0,8}([@-~])|\x1b([0-~])/g;
/** Text with one of these is more than lines. */
export const NOT_PLAIN = /[\x08\x1b\x80-\x9f]|\r(?!\n)/;

/** The text without sequences that change no text: colours, titles, links, clipboard, character sets, bells. */
export function onlyEffects(text: string): string {
  return text.replace(SEQUENCES, (sequence, move: string | undefined, escape: string | undefined) =>
    (move !== undefined && MOVES.has(move)) || (escape !== undefined && ESCAPES.has(escape)) ? sequence : '',
  );
}

export function withoutIgnored(text: string): string {
  return text.replace(IGNORED, '');
}

/** The end of a text that more text may turn into something else. */
export function openEnd(text: string): string {
  const end = text.slice(-LONGEST_OPEN);
  return MAY_BE_OPEN.test(end) ? (OPEN_END.exec(end)?.[0] ?? '') : '';
}
