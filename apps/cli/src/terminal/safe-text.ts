import { stripVTControlCharacters } from 'node:util';

const INVISIBLE = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
const KEPT: ReadonlySet<string> = new Set(['\n', '\t']);

/**
 * What a tool, a model or another user wrote, as text that a terminal only shows: no escape sequence (moving the cursor,
 * retitling the window, writing the clipboard, answering back), no other control character, nothing that turns the
 * direction of text around. A carriage return, with which a line overwrites itself, becomes a line's end. A sequence that
 * is cut in two loses its ESC, and its rest is plain text.
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
