import { ProblemError, type CallEventOf, type Principal } from '#contracts';
import type { ApiKeyStore } from './api-key-store.service.js';

/**
 * Submitting key of a call with its current rights. A token has the rights that it granted at submission, as far as its issuer
 * may still grant them.
 * @throws ProblemError `forbidden` if it may no longer submit calls
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
