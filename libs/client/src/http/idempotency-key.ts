/**
 * 128 random bits as text. Not `crypto.randomUUID`: browsers have that on secure pages only, and a dashboard on a
 * private network is none.
 */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
