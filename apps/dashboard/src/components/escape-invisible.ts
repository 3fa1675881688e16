/** Control characters, and characters that reorder or hide text. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const INVISIBLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Untrusted text with these characters written out, as `‹U+202E›`. */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, (character) => `‹U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`);
}
