import { describe, expect, it } from '@jest/globals';
import { StartedAuthorization, IssuerMetadata, storedText } from './stored-authorization.js';

const ISSUER = 'https://login.example.com';

describe('what is stored of an authorization', () => {
  const metadata = {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: `${ISSUER}/token`,
    scopes_supported: Array.from({ length: 1_000 }, (_, index) => `scope-${index}`),
    code_challenge_methods_supported: ['S256'],
  };
  const begun = (more: Partial<StartedAuthorization> = {}): StartedAuthorization => ({
    name: 'tickets',
    tenantId: 'default',
    binding: 'binding',
    issuer: IssuerMetadata.parse(metadata),
    client: { clientId: 'toolyard', method: 'none' },
    verifier: 'verifier',
    redirectUri: 'https://toolyard.example.com/authorized/0123456789abcdef',
    ...more,
  });

  it('stores none of the issuer’s lists that only the start of an authorization needs', () => {
    const { issuer } = StartedAuthorization.parse(JSON.parse(storedText(StartedAuthorization, begun())));
    expect(Object.keys(issuer)).toEqual(['issuer', 'authorization_endpoint', 'token_endpoint']);
  });

  it('refuses to store an authorization of more than 8 KB, or with a client id that is too long', () => {
    expect(() => storedText(StartedAuthorization, begun({ resource: 'r'.repeat(8_192) }))).toThrow(
      /has \d{4} bytes, expected at most 8192/,
    );
    const client = { clientId: 'c'.repeat(2_049), method: 'none' } as const;
    expect(() => storedText(StartedAuthorization, begun({ client }))).toThrow(/client\.clientId: .*2048/);
  });

  it('refuses metadata of an issuer with an address that is too long', () => {
    const long = { ...metadata, token_endpoint: `${ISSUER}/${'t'.repeat(2_048)}` };
    expect(IssuerMetadata.safeParse(long).error?.issues).toEqual([expect.objectContaining({ path: ['token_endpoint'] })]);
  });
});
