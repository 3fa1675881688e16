import { CONTROL_CHARACTERS, HIDDEN_CHARACTERS, SEEN_CHARACTERS } from '#contracts';
import { codeText, lookAlikes } from './look-alikes.js';

/**
 * Control characters but carriage return, and characters that reorder, hide or break text. Before them, as `seen`, those that make
 * emoji and letters.
 */
// oxlint-disable-next-line no-restricted-globals -- constants of this file
const INVISIBLE = new RegExp(`(?<seen>${SEEN_CHARACTERS})|(?!\\r)[${CONTROL_CHARACTERS}${HIDDEN_CHARACTERS}\\u00ad\\u2028\\u2029]`, 'gu');
/** Escape form of invisible characters in the gateway's texts for approvals. */
const WRITTEN_OUT = /\\u\{([0-9A-F]{1,6})\}/g;

/** Piece of untrusted text: visible characters, or the code point of an invisible one. */
export type TextPiece = { readonly text: string } | { readonly codePoint: number };
/** The same, or a name that may not be what it looks like, with the reason. */
export type MarkedTextPiece = TextPiece | { readonly lookAlike: string; readonly note: string };

/** Untrusted text with these characters written out, as `‹U+202E›`. */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, (found: string, seen: string | undefined) => seen ?? `‹${codeText(found.codePointAt(0) ?? 0)}›`);
}

/** The same, with names that may not be what they look like marked, as `pаypal‹Latin and Cyrillic: U+0430›`. */
export function markedText(text: string): string {
  return markedPieces(text)
    .map((piece) => {
      if ('text' in piece) return piece.text;
      return 'codePoint' in piece ? `‹${codeText(piece.codePoint)}›` : `${piece.lookAlike}‹${piece.note}›`;
    })
    .join('');
}

/** `invisiblePieces`, of which names that may not be what they look like are pieces of their own. */
export function markedPieces(text: string, writtenOut = false): MarkedTextPiece[] {
  return invisiblePieces(text, writtenOut).flatMap((piece) => ('text' in piece ? withLookAlikes(piece.text) : [piece]));
}

function withLookAlikes(text: string): MarkedTextPiece[] {
  const pieces: MarkedTextPiece[] = [];
  let end = 0;
  for (const { at, text: lookAlike, note } of lookAlikes(text)) {
    if (at > end) pieces.push({ text: text.slice(end, at) });
    pieces.push({ lookAlike, note });
    end = at + lookAlike.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end) });
  return pieces;
}

/** `writtenOut`: the text may have such characters as `\u{202E}`, too. */
export function invisiblePieces(text: string, writtenOut = false): TextPiece[] {
  const found: { readonly at: number; readonly length: number; readonly codePoint: number }[] = [];
  for (const { index, 0: character, groups } of text.matchAll(INVISIBLE))
    if (groups?.['seen'] === undefined) found.push({ at: index, length: character.length, codePoint: character.codePointAt(0) ?? 0 });
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
