import type { Json } from '../json-value.js';

/** Joiners and selectors where they make emoji or letters, and line ends: a reader sees what they do. */
const SEEN =
  '\\r\\n|(?<=[\\p{Extended_Pictographic}\\u{1f3fb}-\\u{1f3ff}]\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic})|(?<=\\p{Extended_Pictographic})[\\ufe0e\\ufe0f](?![\\ufe00-\\ufe0f])|(?<=[\\u0600-\\u0dff])[\\u200c\\u200d](?=[\\u0600-\\u0dff])';
/** Controls, formats (bidi, tags), halves of characters, what fonts leave out, and blanks other than the ordinary space. */
const UNSEEN = '(?![\\t\\n ])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Zs}\\p{Default_Ignorable_Code_Point}\\u2800]';
// oxlint-disable-next-line no-restricted-globals -- constants of this library
const ANY_UNSEEN = new RegExp(UNSEEN, 'u');
// oxlint-disable-next-line no-restricted-globals -- constants of this library
const PARTS = new RegExp(`(?<seen>${SEEN})|${UNSEEN}`, 'gu');

/**
 * The text with everything written out that a person would not see, as `\u{200B}`. Nothing is left out. The very same text when
 * there is nothing.
 */
export function escapeInvisibleText(text: string): string {
  if (!ANY_UNSEEN.test(text)) return text;
  return text.replace(
    PARTS,
    (found: string, seen: string | undefined) => seen ?? `\\u{${(found.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`,
  );
}

/** The same for all texts of a JSON value, its keys too. The very same value when there is nothing. */
export function escapeInvisibleJson(value: Json): Json {
  if (typeof value === 'string') return escapeInvisibleText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(escapeInvisibleJson);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const before = Object.entries(value);
  const after = before.map(([key, field]) => [escapeInvisibleText(key), escapeInvisibleJson(field)] as const);
  return after.some(([key, field], index) => key !== before[index]?.[0] || field !== before[index][1]) ? Object.fromEntries(after) : value;
}
