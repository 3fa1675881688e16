/* oxlint-disable no-control-regex -- Control characters are what this file is about. */
import { ESCAPE_SEQUENCE } from '#patterns';

/** A text without some of what hides in it. `places[i]` is where its character `i` stood. */
export interface RevealedText {
  readonly text: string;
  readonly offsets: Uint32Array;
}

/** Quick check: nearly every text has only these characters, none of which is hidden. */
const NOT_PLAIN = /[^\t\n\r -~]/;
/** Invisible characters, without blanks and line ends, which separate words. */
const UNSEEN = '(?![\\t\\n\\r])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]';
/** Escape sequences without a text of their own: colours, the cursor. */
const SHORT_ESCAPE = '(?:\\x1b\\[|\\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]';
// oxlint-disable-next-line no-restricted-globals -- constants of this library
const CHARACTERS = new RegExp(UNSEEN, 'gu');
/** All readings of escape sequences, since terminals differ and the raw text is stored. */
// oxlint-disable-next-line no-restricted-globals -- constants of this library
const READINGS = [CHARACTERS, new RegExp(`${SHORT_ESCAPE}|${UNSEEN}`, 'gu'), new RegExp(`${ESCAPE_SEQUENCE}|${UNSEEN}`, 'gu')];
const HAS_ESCAPE = /[\x1b\x80-\x9f]/;

/** The readings of a text without its hidden characters; empty when it has none. */
export function revealHiddenText(text: string): readonly RevealedText[] {
  if (!NOT_PLAIN.test(text) || text.search(CHARACTERS) < 0) return [];
  return (HAS_ESCAPE.test(text) ? READINGS : [CHARACTERS]).map((hiding) => without(text, hiding));
}

function without(text: string, hiding: RegExp): RevealedText {
  const places = new Uint32Array(text.length);
  let out = '';
  let from = 0;
  const keep = (until: number) => {
    for (let at = from; at < until; at++) places[out.length + at - from] = at;
    out += text.slice(from, until);
  };
  for (const { index, 0: found } of text.matchAll(hiding)) {
    keep(index);
    from = index + found.length;
  }
  keep(text.length);
  return { text: out, offsets: places };
}
