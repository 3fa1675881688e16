/** Escape sequences of terminals (ECMA-48): cursor, title, clipboard, colours. */
export const ESCAPE_SEQUENCE =
  '\\x1b\\[[0-?]{0,64}[ -/]{0,8}[@-~]|\\x9b[0-?]{0,64}[ -/]{0,8}[@-~]|(?:\\x1b[\\]PX^_]|[\\x9d\\x90\\x98\\x9e\\x9f])[^\\x07\\x1b\\x9c\\n]{0,4096}(?:\\x07|\\x1b\\\\|\\x9c)?|\\x1b[ -/]{0,8}[0-~]';
/** Line ends, characters that make emoji, and joiners within scripts that are written with them: a reader sees what they do. */
const SEEN =
  '\\r\\n|(?<=[\\p{Extended_Pictographic}\\u{1f3fb}-\\u{1f3ff}]\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic})|(?<=[\\p{Extended_Pictographic}#*0-9])[\\ufe0e\\ufe0f](?![\\ufe00-\\ufe0f])|(?<=[\\u0600-\\u0dff])[\\u200c\\u200d](?=[\\u0600-\\u0dff])';
/** Tags, bidi controls (Unicode TR 9), zero-width characters, variation selectors, fillers, controls of shorthand and of musical notes. */
const HIDDEN =
  '\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb\\u{e0000}-\\u{e0fff}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}';
const CONTROL = '\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f';

/** A text without these has nothing that `HIDDEN_TEXT` matches besides what is seen. */
// oxlint-disable-next-line no-restricted-globals -- constants of this file
export const SUSPECT_TEXT = new RegExp(`[${CONTROL}${HIDDEN}]`, 'u');
/**
 * Dangerous for a terminal, a reader or a model, in this order: escape sequences, line ends that overwrite, hidden characters,
 * other control characters. Before them, as `seen`, those that stay.
 */
// oxlint-disable-next-line no-restricted-globals -- constants of this file
export const HIDDEN_TEXT = new RegExp(`(?<seen>${SEEN})|(?<escape>${ESCAPE_SEQUENCE})|\\r|(?<hidden>[${HIDDEN}])|[${CONTROL}]`, 'gu');

/** The text without what could harm its reader. The very same text when there is nothing. */
export function cleanText(text: string): string {
  if (!SUSPECT_TEXT.test(text)) return text;
  return text.replace(HIDDEN_TEXT, (found: string, seen: string | undefined) => seen ?? (found === '\r' ? '\n' : ''));
}
