import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import type { EgressFetch } from '#sandbox';

/** Supplier of access tokens. */
export interface Tokens {
  token(): Promise<string>;
  /** `metadataUrl`: where the server says that its metadata are. */
  refused(token: string, metadataUrl: URL | undefined): void;
  /** The server refused this token twice, and it was the newest one. */
  ended?(token: string): void;
}

/**
 * The same fetch with a token of the issuer on each request to `url`'s origin. A request that is answered with 401 is sent
 * once more with another token. Where tokens can end: sent a last time with the newest one, as a single 401 of it may be a fault
 * of the server. Rejects if the server refuses the newest one twice and only a person can give another. Own code: the provider of
 * the SDK keeps a token after its end, and sends the secret to the token endpoint that metadata name, whatever its host.
 */
export function authorizedFetch(fetch: EgressFetch['fetch'], url: string, tokens: Tokens): EgressFetch['fetch'] {
  const { origin } = new URL(url);
  return async (target, init = {}) => {
    if (new URL(target).origin !== origin) return fetch(target, init);
    const send = (token: string) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${token}`);
      return fetch(target, { ...init, headers });
    };
    const token = await tokens.token();
    const response = await send(token);
    if (!refusesToken(response)) return response;
    const { resourceMetadataUrl } = extractWWWAuthenticateParams(response);
    await response.body?.cancel();
    tokens.refused(token, resourceMetadataUrl?.origin === origin ? resourceMetadataUrl : undefined);
    const next = await tokens.token();
    const again = await send(next);
    if (!refusesToken(again) || tokens.ended === undefined) return again;
    await again.body?.cancel();
    if (next !== token) {
      const last = await send(next);
      if (!refusesToken(last)) return last;
      await last.body?.cancel();
    }
    tokens.ended(next);
    // At once: a connection that cannot be made has no next request, and the next connection knows nothing of this one.
    return send(await tokens.token());
  };
}

/** False if the token is good but may not do this: another one of the same grant may do no more. RFC 6750 has 403 for it, some servers 401. */
function refusesToken(response: Response): boolean {
  return response.status === 401 && extractWWWAuthenticateParams(response).error !== 'insufficient_scope';
}
