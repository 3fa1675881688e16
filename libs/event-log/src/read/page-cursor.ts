import { ProblemError } from '#contracts';

/**
 * Where the next page begins: for each partition that is read, the sequence number below which nothing was shown yet.
 * Opaque to callers; base64url of the numbers, so that it fits into a query string.
 */
export function encodePageCursor(positions: readonly number[]): string {
  return Buffer.from(positions.join('.')).toString('base64url');
}

/** Throws `invalid_request` for anything but a cursor for as many partitions. */
export function decodePageCursor(text: string, partitions: number): number[] {
  const decoded = Buffer.from(text, 'base64url').toString('latin1');
  const positions = /^\d{1,15}(\.\d{1,15})*$/.test(decoded) ? decoded.split('.').map(Number) : [];
  if (positions.length === partitions) return positions;
  const expected = 'expected the nextCursor of a page of the same list, unchanged';
  throw new ProblemError('invalid_request', `The cursor cannot be read: ${expected}.`, {
    errors: [{ pointer: '/cursor', message: expected }],
  });
}
