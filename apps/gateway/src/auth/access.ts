import { ProblemError, type Principal, type Scope } from '#contracts';
import type { RateLimitResult } from './rate-limits.service.js';

/** @throws ProblemError `forbidden` if the key lacks the scope, or if none is declared */
export function assertScope(principal: Principal, required: Scope | undefined): void {
  if (required !== undefined && principal.scopes.includes(required)) return;
  const needed = required ?? '(none is declared: no key may call it)';
  throw new ProblemError('forbidden', `This needs the scope ${needed}; the key has ${principal.scopes.join(', ')}`);
}

/** @throws ProblemError `too_many_requests` if the key has used its budget */
export function assertWithinRate({ allowed, limit, resetMs }: RateLimitResult): true {
  if (allowed) return true;
  throw new ProblemError('too_many_requests', `The key may make ${limit} requests a minute`, { retryAfterMs: resetMs });
}

const BEARER = /^Bearer +(\S{1,8192}) *$/i;

/**
 * Token of an Authorization header; undefined without the header.
 * @throws ProblemError `unauthenticated` for a header of another form
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) throw new ProblemError('unauthenticated', 'Expected the header Authorization: Bearer <API key>');
  return token;
}

/** @throws ProblemError `unauthenticated` */
export function requiredToken(authorization: string | undefined): string {
  const token = bearerToken(authorization);
  if (token === undefined) throw new ProblemError('unauthenticated', 'Expected the header Authorization: Bearer <API key or JWT>');
  return token;
}

export function unknownKey(): ProblemError {
  return new ProblemError('unauthenticated', 'The API key is unknown or has expired');
}
