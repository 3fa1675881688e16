/**
 * 128 random bits as text. Not `crypto.randomUUID`, which browsers offer to secure pages only: a dashboard on a private network
 * may not be one.
 */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
