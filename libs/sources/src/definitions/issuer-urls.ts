import type { McpAuth, OpenApiSourceDefinition } from '#contracts';

/** The issuers that the definition of a source names: where its client secret goes. Empty for other credentials. */
export function issuerUrls(auth: McpAuth | OpenApiSourceDefinition['auth']): string[] {
  if (auth?.type === 'authorizationCode') return auth.issuer === undefined ? [] : [auth.issuer];
  if (auth?.type !== 'clientCredentials') return [];
  return [auth.tokenUrl, 'issuer' in auth ? auth.issuer : undefined].filter((it) => it !== undefined);
}
