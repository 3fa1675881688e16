/** The longest prefix of at most `limitBytes` bytes that splits no character. A lone surrogate counts as U+FFFD. */
export function cutUtf8(text: string, limitBytes: number): string {
  if (text.length * 3 <= limitBytes) return text;
  const bytes = Buffer.from(text.length > limitBytes ? text.slice(0, limitBytes + 1) : text);
  if (bytes.length <= limitBytes) return text;
  let end = limitBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/**
 * Beginning and end of a text of more than `limitBytes` bytes of UTF-8, together at most that many: `tailBytes` for the end,
 * the rest for the beginning. Both are cut at a line border if one is in the half next to the cut, else between characters.
 */
export function keepEnds(text: string, limitBytes: number, tailBytes: number): { readonly head: string; readonly tail: string } {
  const forTail = Math.min(tailBytes, limitBytes);
  return { head: wholeLinesOf(cutUtf8(text, limitBytes - forTail)), tail: lastLinesOf(lastUtf8(text, forTail)) };
}

/** The longest suffix of at most `limitBytes` bytes that splits no character. */
function lastUtf8(text: string, limitBytes: number): string {
  if (limitBytes === 0) return '';
  const bytes = Buffer.from(text.length > limitBytes ? text.slice(-limitBytes - 1) : text);
  if (bytes.length <= limitBytes) return bytes.toString();
  let start = bytes.length - limitBytes;
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString('utf8', start);
}

function wholeLinesOf(head: string): string {
  const end = head.lastIndexOf('\n') + 1;
  return end > head.length / 2 ? head.slice(0, end) : head;
}

function lastLinesOf(tail: string): string {
  const start = tail.indexOf('\n') + 1;
  return start > 0 && start < tail.length / 2 ? tail.slice(start) : tail;
}
