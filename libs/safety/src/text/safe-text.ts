import type { EditStream, Redactor } from '../redactor.js';
import { CleanStream, cleanCutOff, cleanText, type HiddenCharacters, type Style } from './clean-text.js';

/** First cleaned, then redacted: a secret with something hidden in it is one secret again once that is gone. */
export function safeText(text: string, redactor: Redactor, hidden: HiddenCharacters): string {
  return redactor.text(cleanText(text, hidden));
}

/** The same for the beginning of a text that was cut off: no half of a secret is left at the cut. */
export function safeCutOff(text: string, redactor: Redactor, hidden: HiddenCharacters): string {
  return redactor.cutOff(cleanCutOff(text, hidden));
}

/**
 * The same for a text that comes in pieces and that people watch: colours and styles stay, but for those inside of a
 * secret, which come after its mark.
 */
export class SafeTextStream {
  private readonly cleaner: CleanStream;
  private readonly edits: EditStream;
  /** Styles that wait for their place to be decided, counted in cleaned text. */
  private styles: Style[] = [];
  private decided = 0;

  constructor(redactor: Redactor, hidden: HiddenCharacters) {
    this.cleaner = new CleanStream(hidden);
    this.edits = redactor.stream();
  }

  push(piece: string): string {
    return this.advance(piece, 'open');
  }

  /** `cut`: more came, which nobody gets. */
  flush(cut = false): string {
    return this.advance('', cut ? 'cut' : 'whole');
  }

  private advance(piece: string, end: 'open' | 'whole' | 'cut'): string {
    const { text, styles } = this.cleaner.push(piece, end === 'whole');
    this.styles.push(...styles);
    let out = '';
    for (const edit of end === 'cut' ? this.edits.cutOff(text) : this.edits.advance(text, end === 'whole')) {
      const from = this.decided;
      this.decided += edit.length;
      if (this.styles.length === 0) out += edit.text;
      else if (edit.kept) out += this.styled(edit.text, from);
      else out += edit.text + this.stylesBefore(this.decided);
    }
    return end === 'open' ? out : out + this.stylesBefore(Infinity);
  }

  private styled(text: string, from: number): string {
    let out = '';
    let at = 0;
    while (this.styles[0] !== undefined && this.styles[0].at < from + text.length) {
      const place = Math.max(at, this.styles[0].at - from);
      out += text.slice(at, place) + this.styles[0].sequence;
      at = place;
      this.styles.shift();
    }
    return out + text.slice(at);
  }

  private stylesBefore(place: number): string {
    let out = '';
    while (this.styles[0] !== undefined && this.styles[0].at < place) out += this.styles.shift()?.sequence ?? '';
    return out;
  }
}
