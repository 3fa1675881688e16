import { ProblemError, type CallEventOf, type Principal } from '#contracts';
import type { ApiKeyStore } from './api-key-store.service.js';

/**
 * The key that submitted a call, as it is now; of a token what it allowed then and its issuer may give now.
 * @throws ProblemError `forbidden` when it may not submit calls any more
 */
export function submitterOf(
  apiKeys: Pick<ApiKeyStore, 'current' | 'rejection'>,
  tenantId: string,
  { actor, data }: CallEventOf<'call.submitted'>,
): Principal {
  const named = { keyId: actor.replace(/^apikey:/, ''), tenantId, scopes: [], ...data.submitter };
  const rejection = apiKeys.rejection(named, 'submit');
  const principal = apiKeys.current(named);
  if (principal !== undefined && rejection === undefined) return principal;
  const why = rejection?.detail ?? 'it is gone';
  throw new ProblemError('forbidden', `The key ${named.keyId}, with which the call was submitted, may not submit calls any more: ${why}`);
}
