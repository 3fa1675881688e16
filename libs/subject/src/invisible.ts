/** Control characters, and characters that reorder or hide text. */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- these characters, each by itself, are what it looks for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e0fff}]/gu;
/** As the gateway writes such characters out where a person is asked. */
const WRITTEN_OUT = /\\u\{([0-9A-F]{1,6})\}/g;

/** A piece of untrusted text: what is seen, or the code point of a character that is not. */
export type TextPiece = { readonly text: string } | { readonly codePoint: number };

/** Untrusted text with these characters written out, as `‹U+202E›`. */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, (character) => `‹${codeText(character.codePointAt(0) ?? 0)}›`);
}

/** `U+202E`. */
export function codeText(codePoint: number): string {
  return `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** `writtenOut`: the text may have such characters as `\u{202E}`, too. */
export function invisiblePieces(text: string, writtenOut = false): TextPiece[] {
  const found: { readonly at: number; readonly length: number; readonly codePoint: number }[] = [...text.matchAll(INVISIBLE)].map(
    ({ index, 0: character }) => ({ at: index, length: character.length, codePoint: character.codePointAt(0) ?? 0 }),
  );
  if (writtenOut)
    for (const { index, 0: whole, 1: hex = '' } of text.matchAll(WRITTEN_OUT))
      if (isInvisible(Number.parseInt(hex, 16))) found.push({ at: index, length: whole.length, codePoint: Number.parseInt(hex, 16) });
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const { at, length, codePoint } of found.toSorted((a, b) => a.at - b.at)) {
    if (at > end) pieces.push({ text: text.slice(end, at) });
    pieces.push({ codePoint });
    end = at + length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end) });
  return pieces;
}

function isInvisible(codePoint: number): boolean {
  return codePoint <= 0x10ffff && String.fromCodePoint(codePoint).search(INVISIBLE) === 0;
}
