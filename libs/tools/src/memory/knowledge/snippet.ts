/** The part of a text around the first word of the query that it has, at most so many characters, with `…` where it is cut. Pure. */
export function snippetOf(text: string, query: string, characters: number): string {
  if (text.length <= characters) return text;
  const lower = text.toLowerCase();
  const places = (query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []).map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const room = characters - 2;
  const start = Math.max(0, Math.min(first - Math.floor(room / 4), text.length - room));
  const end = start + room;
  return `${start > 0 ? '…' : ''}${text.slice(start, end).toWellFormed()}${end < text.length ? '…' : ''}`;
}
