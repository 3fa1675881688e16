import { cleanText } from '#patterns';
import type { EditStream, Redactor } from '../redactor.js';
import { CleanStream, cleanTruncated, type HeldText, type HiddenCharacters } from './clean-text.js';

/** First cleaned, then redacted: a secret with something hidden in it is one secret again once that is gone. */
export function sanitizeText(text: string, redactor: Redactor, hidden: HiddenCharacters): string {
  if (hidden === 'drop') return redactor.text(cleanText(text));
  const stream = new SanitizedTextStream(redactor, hidden, false);
  return stream.push(text) + stream.flush();
}

/** The same for the beginning of a text that was cut off: no half of a secret is left at the cut. */
export function sanitizeTruncated(text: string, redactor: Redactor, hidden: HiddenCharacters): string {
  if (hidden === 'drop') return redactor.truncatedText(cleanTruncated(text));
  const stream = new SanitizedTextStream(redactor, hidden, false);
  return stream.push(text) + stream.flush(true);
}

/**
 * Sanitizes a text in pieces for watchers: keeps colours and styles, but moves those inside of a secret behind its mark.
 * Removes hidden characters inside of a secret.
 */
export class SanitizedTextStream {
  private readonly cleaner: CleanStream;
  private readonly edits: EditStream;
  /** Asides whose position is undecided, by offset in the cleaned text. */
  private asides: HeldText[] = [];
  private decided = 0;

  constructor(
    redactor: Redactor,
    hidden: HiddenCharacters,
    private readonly colours = true,
  ) {
    this.cleaner = new CleanStream(hidden);
    this.edits = redactor.stream();
  }

  push(piece: string): string {
    return this.advance(piece, 'open');
  }

  /** `cut`: the text is truncated here, and the rest is discarded. */
  flush(cut = false): string {
    return this.advance('', cut ? 'cut' : 'whole');
  }

  private advance(piece: string, end: 'open' | 'whole' | 'cut'): string {
    const { text, asides } = this.cleaner.push(piece, end === 'whole');
    for (const aside of asides) if (this.colours || aside.kind === 'hidden') this.asides.push(aside);
    let out = '';
    for (const edit of end === 'cut' ? this.edits.truncate(text) : this.edits.advance(text, end === 'whole')) {
      const from = this.decided;
      this.decided += edit.length;
      if (this.asides.length === 0) out += edit.text;
      else if (edit.isUnchanged) out += this.withAsides(edit.text, from);
      else out += this.before(from) + edit.text + this.before(this.decided, 'style');
    }
    return end === 'open' ? out : out + this.before(Infinity);
  }

  private withAsides(text: string, from: number): string {
    let out = '';
    let at = 0;
    while (this.asides[0] !== undefined && this.asides[0].at < from + text.length) {
      const place = Math.max(at, this.asides[0].at - from);
      out += text.slice(at, place) + this.asides[0].text;
      at = place;
      this.asides.shift();
    }
    return out + text.slice(at);
  }

  /** Takes what comes before the place; only these kinds of it are given out. */
  private before(place: number, kind?: HeldText['kind']): string {
    let out = '';
    for (let next = this.asides[0]; next !== undefined && next.at < place; next = this.asides[0]) {
      if (kind === undefined || next.kind === kind) out += next.text;
      this.asides.shift();
    }
    return out;
  }
}
