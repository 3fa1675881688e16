import { codeText, invisiblePieces } from '#subject';

/** Text of others with hidden characters written out, as `<U+202E>`. `writtenOut`: it may have them as `\u{202E}`, too. */
export function visible(text: string, writtenOut = false): string {
  return invisiblePieces(text.replaceAll('\r\n', '\n'), writtenOut)
    .map((piece) => ('text' in piece ? piece.text.replaceAll('\r', '<U+000D>') : `<${codeText(piece.codePoint)}>`))
    .join('');
}

/** Whether a text has characters that hide or reorder what is seen. */
export function hasHidden(text: string, writtenOut = false): boolean {
  return /\r(?!\n)/.test(text) || invisiblePieces(text, writtenOut).some((piece) => 'codePoint' in piece);
}
