import { ProblemError } from '#contracts';

/** Last item of the previous page: a time in ms since the epoch, and a name. */
export interface PagePlace {
  readonly time: number;
  readonly id: string;
}

/** Opaque to callers. */
export function encodePlace({ time, id }: PagePlace): string {
  return Buffer.from(`${time.toString(36)} ${id}`).toString('base64url');
}

/** Throws `invalid_request` for any other cursor. */
export function decodePlace(text: string): PagePlace {
  const match = /^([\da-z]{1,9}) ([A-Za-z0-9._@-]{1,128})$/.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (match?.[1] !== undefined && match[2] !== undefined) return { time: Number.parseInt(match[1], 36), id: match[2] };
  const expected = 'expected the cursor of an answer to the same question, unchanged';
  throw new ProblemError('invalid_request', `The cursor cannot be read: ${expected}.`, {
    errors: [{ pointer: '/cursor', message: expected }],
  });
}
