import { stripVTControlCharacters } from 'node:util';

const INVISIBLE = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
const KEPT: ReadonlySet<string> = new Set(['\n', '\t']);

/**
 * Text of a tool, a model or another user without effects on a terminal. Removes escape sequences (cursor movement, window
 * titles, clipboard, device reports), other control characters and those that change the direction of text. A carriage
 * return, with which a line overwrites itself, becomes a line end. A sequence cut in two loses its ESC; the rest stays as text.
 */
export function safeText(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n')
    .replace(INVISIBLE, (character) => (KEPT.has(character) ? character : ''));
}

/** On one line, at most `width` characters. */
export function oneLine(text: string, width: number): string {
  const line = safeText(text).replace(/\s+/g, ' ').trim();
  const characters = Array.from(line);
  return characters.length <= width ? line : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}
