import { CONTROL_CHARACTERS, HIDDEN_CHARACTERS, SEEN_CHARACTERS } from '#contracts';

/** Escape sequences of terminals (ECMA-48): cursor, title, clipboard, colours. */
export const ESCAPE_SEQUENCE =
  '\\x1b\\[[0-?]{0,64}[ -/]{0,8}[@-~]|\\x9b[0-?]{0,64}[ -/]{0,8}[@-~]|(?:\\x1b[\\]PX^_]|[\\x9d\\x90\\x98\\x9e\\x9f])[^\\x07\\x1b\\x9c\\n]{0,4096}(?:\\x07|\\x1b\\\\|\\x9c)?|\\x1b[ -/]{0,8}[0-~]';
/** A text without these has nothing that `HIDDEN_TEXT` matches besides what is seen. */
// oxlint-disable-next-line no-restricted-globals -- constants of this file
export const SUSPECT_TEXT = new RegExp(`[${CONTROL_CHARACTERS}${HIDDEN_CHARACTERS}]`, 'u');
/**
 * Dangerous for a terminal, a reader or a model, in this order: escape sequences, line ends that overwrite, hidden characters,
 * other control characters. Before them, as `seen`, those that stay.
 */
// oxlint-disable-next-line no-restricted-globals -- constants of this file
export const HIDDEN_TEXT = new RegExp(
  `(?<seen>${SEEN_CHARACTERS})|(?<escape>${ESCAPE_SEQUENCE})|\\r|(?<hidden>[${HIDDEN_CHARACTERS}])|[${CONTROL_CHARACTERS}]`,
  'gu',
);

/** The text without what could harm its reader. The very same text when there is nothing. */
export function cleanText(text: string): string {
  if (!SUSPECT_TEXT.test(text)) return text;
  return text.replace(HIDDEN_TEXT, (found: string, seen: string | undefined) => seen ?? (found === '\r' ? '\n' : ''));
}
