/** A set of UTF-16 code units: a table for ASCII, one answer for all others. Looking one up costs about a nanosecond. */
export interface CharSet {
  readonly ascii: Uint8Array;
  readonly others: boolean;
}

/** The ASCII characters that `members` matches, and all others when `others` says so. */
export function charSet(members: RegExp, others = false): CharSet {
  return { ascii: Uint8Array.from({ length: 128 }, (_, code) => (members.test(String.fromCharCode(code)) ? 1 : 0)), others };
}

export function hasCode({ ascii, others }: CharSet, code: number): boolean {
  return code < 128 ? ascii[code] === 1 : others;
}

/** End of the run of members that begins at `from`, at most `limit`. */
export function runEnd(text: string, from: number, limit: number, set: CharSet): number {
  let at = from;
  while (at < limit && hasCode(set, text.charCodeAt(at))) at += 1;
  return at;
}

export const WORD = charSet(/[A-Za-z0-9]/);
