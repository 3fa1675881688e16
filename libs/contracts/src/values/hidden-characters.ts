// Parts of regular expressions with the flag `u`. What is cleaned, and what is shown to people, is read from one table.

/** Visible in effect: line ends, characters that make emoji, and joiners in scripts that need them. */
export const SEEN_CHARACTERS =
  '\\r\\n|(?<=[\\p{Extended_Pictographic}\\u{1f3fb}-\\u{1f3ff}]\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic})|(?<=[\\p{Extended_Pictographic}#*0-9])[\\ufe0e\\ufe0f](?![\\ufe00-\\ufe0f])|(?<=[\\u0600-\\u0dff])[\\u200c\\u200d](?=[\\u0600-\\u0dff])';
/**
 * Content of a character class: tags, bidi controls (Unicode TR 9), zero-width characters, variation selectors, fillers,
 * controls of shorthand and of musical notes.
 */
export const HIDDEN_CHARACTERS =
  '\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb\\u{e0000}-\\u{e0fff}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}';
/** Content of a character class: control characters except tab and line feed; includes carriage return. */
export const CONTROL_CHARACTERS = '\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f';
