/** The end of an id, where ids differ. */
export function shortId(id: string): string {
  return id.length > 14 ? `${id.slice(0, 3)}…${id.slice(-8)}` : id;
}
