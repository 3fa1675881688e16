const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The submission time of a call, from its id: the first ten characters of a ULID are milliseconds in base 32. */
export function timeOfId(id: string): number | undefined {
  const stamp = id.slice(id.indexOf('-') + 1).slice(0, 10);
  let ms = 0;
  for (const character of stamp) {
    const digit = CROCKFORD.indexOf(character);
    if (digit < 0) return undefined;
    ms = ms * 32 + digit;
  }
  return stamp.length === 10 ? ms : undefined;
}
