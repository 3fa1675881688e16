import {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import type { McpAuthorizationCode } from '#contracts';
import type { EgressFetch } from '#sandbox';
import { failureText } from '../failure-text.js';
import { isSame } from './token-endpoint.js';
import { IssuerMetadata, issuesText, type Issuer } from './stored-authorization.js';

type Get = EgressFetch['fetch'];

/** The issuer that a person is sent to, and the resource and scopes asked for. */
export interface Wanted {
  readonly issuer: IssuerMetadata;
  readonly resource?: string;
  readonly scopes: readonly string[];
}

const PING = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'ping' });
const OFFLINE = 'offline_access';

/**
 * Finds who issues tokens for a server. Steps: a request without a token, whose answer says where the metadata of the server are →
 * these (RFC 9728) → the issuer of the definition, which they must name, else the first one that they name, else the server's
 * origin → its metadata (RFC 8414, or OpenID Connect), which must have PKCE. `get` checks each address.
 *
 * @throws Error in words for administrators
 */
export async function wantedOf(url: string, auth: McpAuthorizationCode, get: Get): Promise<Wanted> {
  const own = resourceUrlFromServerUrl(url);
  const challenge = await challengeOf(own, get);
  const metadata = await discoverOAuthProtectedResourceMetadata(url, { ...challenge.options }, get).catch(() => undefined);
  if (metadata !== undefined && !checkResourceAllowed({ requestedResource: own, configuredResource: metadata.resource }))
    throw new Error(`the server names the resource ${metadata.resource.slice(0, 300)}, which is not ${own.href}`);
  const named = metadata?.authorization_servers ?? [];
  if (auth.issuer !== undefined && named.length > 0 && !named.some((it) => isSame(it, auth.issuer ?? '')))
    throw new Error(`the server takes tokens of ${named.join(', ').slice(0, 300)}, and \`auth.issuer\` is ${auth.issuer}`);
  const issuer = await issuerAt(auth.issuer ?? named[0] ?? own.origin, own, get);
  assertSecretStays(issuer, auth);
  const resource = auth.resource === false ? undefined : (auth.resource ?? metadata?.resource ?? own.href);
  const asked = auth.scopes ?? challenge.scope?.split(' ') ?? metadata?.scopes_supported ?? [];
  const offline = auth.scopes === undefined && issuer.scopes_supported?.includes(OFFLINE) === true ? [OFFLINE] : [];
  return { issuer, ...(resource === undefined ? {} : { resource }), scopes: [...new Set([...asked, ...offline])] };
}

async function challengeOf(own: URL, get: Get): Promise<{ readonly options: { resourceMetadataUrl?: URL }; readonly scope?: string }> {
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const answer = await get(own, { method: 'POST', headers, body: PING }).catch((error: unknown) => {
    throw new Error(`the server cannot be reached: ${failureText(error).slice(0, 300)}`, { cause: error });
  });
  if (answer.status !== 401) return { options: {} };
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(answer);
  const isOwn = resourceMetadataUrl?.origin === own.origin;
  return { options: isOwn ? { resourceMetadataUrl } : {}, ...(scope === undefined ? {} : { scope }) };
}

async function issuerAt(address: string, server: URL, get: Get): Promise<IssuerMetadata> {
  const found = await discoverAuthorizationServerMetadata(address, { fetchFn: get }).catch((error: unknown) => {
    throw new Error(`the metadata of the issuer ${address.slice(0, 300)} cannot be used: ${failureText(error).slice(0, 300)}`, {
      cause: error,
    });
  });
  if (found === undefined) throw new Error(`the issuer ${address.slice(0, 300)} has no metadata (RFC 8414)`);
  const read = IssuerMetadata.safeParse(found);
  if (!read.success) throw new Error(`the metadata of the issuer ${address.slice(0, 300)} cannot be used: ${issuesText(read.error)}`);
  const { authorization_endpoint, token_endpoint } = read.data;
  const isPlain = [authorization_endpoint, token_endpoint].some((it) => new URL(it).protocol === 'http:');
  if (isPlain && server.protocol !== 'http:') throw new Error(`the issuer ${address.slice(0, 300)} has addresses without TLS`);
  return read.data;
}

/** The secret of a definition goes where the definition says, whatever the metadata name. */
function assertSecretStays({ issuer, token_endpoint, revocation_endpoint = token_endpoint }: Issuer, auth: McpAuthorizationCode): void {
  if (auth.clientSecret === undefined) return;
  const { origin } = new URL(auth.issuer ?? issuer);
  if ([token_endpoint, revocation_endpoint].some((it) => new URL(it).origin !== origin))
    throw new Error(`an endpoint of ${origin} for the client secret is on another origin`);
}
