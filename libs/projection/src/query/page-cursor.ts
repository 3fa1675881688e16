import { ProblemError } from '#contracts';

/**
 * Where the next page begins: for each partition the ordinal below which nothing was shown yet, so calls that come
 * meanwhile change nothing. Opaque to callers; base64url of the numbers.
 */
export function encodePageCursor(positions: readonly number[]): string {
  return Buffer.from(positions.map((position) => position.toString(36)).join('.')).toString('base64url');
}

/** Throws `invalid_request` for anything but a cursor for as many partitions. */
export function decodePageCursor(text: string, partitions: number): number[] {
  const decoded = Buffer.from(text, 'base64url').toString('latin1');
  const positions = /^[\da-z]{1,9}(\.[\da-z]{1,9})*$/.test(decoded) ? decoded.split('.').map((part) => Number.parseInt(part, 36)) : [];
  if (positions.length === partitions) return positions;
  throw wrongCursor();
}

/** What the newest session of the next page comes after, newest first. */
export interface SessionPlace {
  readonly lastAt: number;
  readonly sessionId: string;
}

export function encodeSessionCursor({ lastAt, sessionId }: SessionPlace): string {
  return Buffer.from(`${lastAt.toString(36)} ${sessionId}`).toString('base64url');
}

/** Throws `invalid_request` for anything but such a cursor. */
export function decodeSessionCursor(text: string): SessionPlace {
  const match = /^([\da-z]{1,9}) ([A-Za-z0-9._@-]{1,128})$/.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (match?.[1] === undefined || match[2] === undefined) throw wrongCursor();
  return { lastAt: Number.parseInt(match[1], 36), sessionId: match[2] };
}

function wrongCursor(): ProblemError {
  const expected = 'expected the cursor of an answer to the same question, unchanged';
  return new ProblemError('invalid_request', `The cursor cannot be read: ${expected}.`, {
    errors: [{ pointer: '/cursor', message: expected }],
  });
}
