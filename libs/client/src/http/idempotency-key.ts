/**
 * 128 random bits as text. Not `crypto.randomUUID`: browsers offer that to secure pages only, which a dashboard on a private
 * network is not.
 */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
