import {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import type { EgressFetch } from '#sandbox';
import { boundedBody } from '../bounded-body.js';
import { noToken, type TokenEndpoint } from './client-credentials.js';

const MAX_BYTES = 65_536;

export type IssuerFetch = EgressFetch['fetch'];

export interface ProtectedServer {
  /** Address of the server that accepts the tokens. */
  readonly url: string;
  /** The one issuer that gets the client secret, whatever the server says. */
  readonly issuer?: string | undefined;
  readonly tokenUrl?: string | undefined;
  /** False: tokens are asked for without one. */
  readonly resource?: string | false | undefined;
  /** The server's metadata, where it has said where they are. */
  readonly metadataUrl?: URL | undefined;
}

/**
 * Finds the token endpoint. Steps: what the server says of itself (RFC 9728), where it says something → it must name the
 * issuer of the configuration → the metadata of that issuer (RFC 8414, or OpenID Connect) → their token endpoint, which must
 * have the origin of the issuer. @throws ToolError `unavailable`
 */
export async function tokenEndpointOf(
  server: ProtectedServer,
  { fetch }: Pick<EgressFetch, 'fetch'>,
  signal: AbortSignal,
): Promise<TokenEndpoint> {
  const own = resourceUrlFromServerUrl(server.url);
  if (server.issuer === undefined) return { tokenUrl: server.tokenUrl ?? '', resource: resourceOf(server, own.href) };
  const get = boundFetch(fetch, signal);
  const metadata = await resourceMetadata(server, get);
  const issuers = metadata?.authorization_servers ?? [];
  if (issuers.length > 0 && !issuers.some((it) => isSame(it, server.issuer ?? '')))
    throw noToken(`the server takes tokens of ${issuers.join(', ').slice(0, 300)}, and \`auth.issuer\` is ${server.issuer}`);
  if (metadata !== undefined && !checkResourceAllowed({ requestedResource: own, configuredResource: metadata.resource }))
    throw noToken(`the server names the resource ${metadata.resource.slice(0, 300)}, which is not ${own.href}`);
  const tokenUrl = await tokenUrlOf(server.issuer, get);
  return { tokenUrl, resource: resourceOf(server, metadata?.resource ?? own.href) };
}

function resourceOf({ resource }: ProtectedServer, found: string): string | undefined {
  return resource === false ? undefined : (resource ?? found);
}

/** Undefined where the server has none: the configuration has all that is needed. */
async function resourceMetadata({ url, metadataUrl }: ProtectedServer, get: EgressFetch['fetch']) {
  const options = metadataUrl === undefined ? {} : { resourceMetadataUrl: metadataUrl };
  return discoverOAuthProtectedResourceMetadata(url, options, get).catch(() => undefined);
}

async function tokenUrlOf(issuer: string, get: EgressFetch['fetch']): Promise<string> {
  const found = await discoverAuthorizationServerMetadata(issuer, { fetchFn: get }).catch((error: unknown) => {
    const why = error instanceof Error ? error.message.slice(0, 300) : '';
    throw noToken(`the metadata of ${issuer} cannot be used: ${why}`, error);
  });
  if (found === undefined) throw noToken(`${issuer} has no metadata (RFC 8414): name \`auth.tokenUrl\` instead of \`auth.issuer\``);
  const { token_endpoint: tokenUrl } = found;
  if (!URL.canParse(tokenUrl) || new URL(tokenUrl).origin !== new URL(issuer).origin)
    throw noToken(`the token endpoint of ${issuer} is on another origin: name it as \`auth.tokenUrl\` instead of \`auth.issuer\``);
  return tokenUrl;
}

/** Compares issuers, which may be written with or without a slash at the end. */
export function isSame(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '');
}

/** The same fetch, whose answers have an end. */
export function boundFetch(fetch: EgressFetch['fetch'], signal: AbortSignal): EgressFetch['fetch'] {
  return async (url, init = {}) => {
    const signals = init.signal ? [init.signal, signal] : [signal];
    const response = await fetch(url, { ...init, signal: AbortSignal.any(signals) });
    const bytes = await boundedBody(response, MAX_BYTES);
    if (bytes === undefined) throw new Error(`the answer has more than ${MAX_BYTES} bytes`);
    const { status, headers } = response;
    return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), { status, headers });
  };
}
