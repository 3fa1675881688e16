import type { McpAuth, OpenApiSourceDefinition } from '#contracts';

/** Where the client secret of a source goes; empty for other credentials. */
export function issuerUrls(auth: McpAuth | OpenApiSourceDefinition['auth']): string[] {
  if (auth?.type !== 'clientCredentials') return [];
  return [auth.tokenUrl, 'issuer' in auth ? auth.issuer : undefined].filter((it) => it !== undefined);
}
