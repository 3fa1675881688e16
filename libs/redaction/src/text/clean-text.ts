/* oxlint-disable no-control-regex, no-misleading-character-class, typescript/no-misused-spread -- Control characters and lone code units are what this file is about. */
import { HIDDEN_TEXT, SUSPECT_TEXT } from '#patterns';

/** Treatment of characters visible to a model only: drop, or write as `\u{200B}`. */
export type HiddenCharacters = 'drop' | 'escape';

/**
 * Removed text at this offset of the cleaned text: a colour or style (SGR), or the escaped form of an invisible character.
 * Stored separately, because a secret with other characters inside is not recognised.
 */
export interface HeldText {
  readonly at: number;
  readonly kind: 'style' | 'hidden';
  readonly text: string;
}

/** Characters outside of this set, the only ones that may need cleaning. */
const NOT_PLAIN = /[^\t\n -~]/;
const NONE: readonly HeldText[] = [];
const STYLE = /^(?:\x1b\[|\x9b)[0-9;:]*m$/;
/** The end of a text that more text may turn into something else. */
const OPEN_END =
  /(?:\x1b(?:\[[0-?]{0,64}[ -/]{0,8}|[\]PX^_][^\x07\x1b\x9c\n]{0,4096}\x1b?|[ -/]{0,8})|\x9b[0-?]{0,64}[ -/]{0,8}|[\x9d\x90\x98\x9e\x9f][^\x07\x1b\x9c\n]{0,4096}\x1b?|\r|[\ud800-\udbff]|[\u200c\u200d\ufe0e\ufe0f][\ud800-\udbff]?)$/;
/** A text that may need cleaning later has one of these near its end. */
const MAY_BE_OPEN = /[\x1b\r\x80-\x9f\ud800-\udbff\u200c\u200d\ufe0e\ufe0f]/;
const LONGEST_OPEN = 4_100;
const CONTEXT = 8;

/** `cleanText` of a truncated text: also removes a possible partial escape sequence at its end. */
export function cleanTruncated(text: string): string {
  const until = text.length - openEnd(text, 0);
  const sure = text.slice(0, until);
  // Reads the undecided end, too, since it affects the character before it.
  return SUSPECT_TEXT.test(sure) ? cleanFrom(text, 0, until, 'drop').text : sure;
}

/** Cleans a text in pieces, with the same result as for the whole. Offsets of asides count from the start of the output. */
export class CleanStream {
  private buffer = '';
  /** Length of the output part of `buffer`. */
  private done = 0;
  private out = 0;

  constructor(private readonly hidden: HiddenCharacters) {}

  /** Nearly every piece is plain, and then nothing has to be looked for. */
  private plain(piece: string): boolean {
    return this.done === this.buffer.length && !NOT_PLAIN.test(piece);
  }

  push(piece: string, final = false): { readonly text: string; readonly asides: readonly HeldText[] } {
    if (this.plain(piece)) {
      this.buffer = (piece.length < CONTEXT ? this.buffer + piece : piece).slice(-CONTEXT);
      this.done = this.buffer.length;
      this.out += piece.length;
      return { text: piece, asides: NONE };
    }
    this.buffer += piece;
    const until = final ? this.buffer.length : this.buffer.length - openEnd(this.buffer, this.done);
    const fresh = this.buffer.slice(this.done, until);
    const cleaned = SUSPECT_TEXT.test(fresh) ? cleanFrom(this.buffer, this.done, until, this.hidden) : { text: fresh, asides: [] };
    const asides = cleaned.asides.map((aside) => ({ ...aside, at: aside.at + this.out }));
    this.out += cleaned.text.length;
    const drop = Math.max(0, until - CONTEXT);
    this.buffer = this.buffer.slice(drop);
    this.done = until - drop;
    return { text: cleaned.text, asides };
  }
}

function openEnd(text: string, from: number): number {
  const end = text.slice(Math.max(from, text.length - LONGEST_OPEN));
  return MAY_BE_OPEN.test(end) ? (OPEN_END.exec(end)?.[0].length ?? 0) : 0;
}

function cleanFrom(text: string, from: number, until: number, mode: HiddenCharacters): { text: string; asides: HeldText[] } {
  const asides: HeldText[] = [];
  let out = '';
  let at = from;
  HIDDEN_TEXT.lastIndex = from;
  for (let part = HIDDEN_TEXT.exec(text); part !== null && part.index < until; part = HIDDEN_TEXT.exec(text)) {
    out += text.slice(at, part.index);
    const [found] = part;
    at = part.index + found.length;
    if (part.groups?.['seen'] !== undefined) out += found;
    else if (found === '\r') out += '\n';
    else if (part.groups?.['escape'] !== undefined) {
      if (STYLE.test(found)) asides.push({ at: out.length, kind: 'style', text: found.replace('\x9b', '\x1b[') });
    } else if (part.groups?.['hidden'] !== undefined && mode === 'escape')
      asides.push({ at: out.length, kind: 'hidden', text: escaped(found) });
  }
  return { text: out + text.slice(at, until), asides };
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;
}
