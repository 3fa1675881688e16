import { codeText, invisiblePieces, lookAlikes, markedPieces } from '#subject';

/**
 * Text of others with hidden characters written out, as `<U+202E>`, and with a note behind names that may not be what they look like.
 * `writtenOut`: it may have hidden characters as `\u{202E}`, too.
 */
export function visible(text: string, writtenOut = false): string {
  return markedPieces(text.replaceAll('\r\n', '\n'), writtenOut)
    .map((piece) => {
      if ('text' in piece) return piece.text.replaceAll('\r', '<U+000D>');
      return 'codePoint' in piece ? `<${codeText(piece.codePoint)}>` : `${piece.lookAlike}<${piece.note}>`;
    })
    .join('');
}

/** True if a text has characters that hide or reorder visible text. */
export function hasHidden(text: string, writtenOut = false): boolean {
  return /\r(?!\n)/.test(text) || invisiblePieces(text, writtenOut).some((piece) => 'codePoint' in piece);
}

/** True if a text has names with look-alike characters. */
export function hasLookAlikes(text: string): boolean {
  return lookAlikes(text).length > 0;
}

/** A line end in a name, path or value would begin a line that looks like one of this program. */
export function inLine(text: string): string {
  return text.replaceAll('\n', '<U+000A>');
}
