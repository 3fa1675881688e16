const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `{` and `[`. */
const OPENING = new Set([0x7b, 0x5b]);
/** `}` and `]`. */
const CLOSING = new Set([0x7d, 0x5d]);

/** Finds the bracket that closes the first one of a JSON text in UTF-8, whose bytes come in pieces. */
export class JsonEnd {
  private depth = 0;
  private isText = false;
  private isEscaped = false;

  /** Bytes of this piece up to the bracket, with it; undefined where the text goes on. */
  find(piece: Uint8Array): number | undefined {
    for (const [index, byte] of piece.entries()) {
      if (this.isEscaped) this.isEscaped = false;
      else if (this.isText && byte === BACKSLASH) this.isEscaped = true;
      else if (byte === QUOTE) this.isText = !this.isText;
      else if (this.isText) continue;
      else if (OPENING.has(byte)) this.depth += 1;
      else if (CLOSING.has(byte) && (this.depth -= 1) === 0) return index + 1;
    }
    return undefined;
  }
}
