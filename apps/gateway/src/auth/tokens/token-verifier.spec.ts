import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type CryptoKey, type JWTPayload } from 'jose';
import { JwtIssuer, ProblemError, SCOPES } from '#contracts';
import { tokenPrincipal } from './token-principal.js';
import { TokenVerifier } from './token-verifier.js';

const ISSUER = 'https://issuer.example.com';
const NOW = Math.floor(Date.now() / 1_000);
const CLAIMS: JWTPayload = { iss: ISSUER, aud: 'toolyard', sub: 'user-1', exp: NOW + 300, scope: 'read submit', org: 'acme' };

describe('a token', () => {
  let key: CryptoKey;
  let other: CryptoKey;
  let rules: JwtIssuer;
  let verifier: TokenVerifier;

  beforeAll(async () => {
    const pair = await generateKeyPair('ES256');
    key = pair.privateKey;
    other = (await generateKeyPair('ES256')).privateKey;
    rules = JwtIssuer.parse({
      issuer: ISSUER,
      audience: ['toolyard', 'other'],
      jwks: { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k1' }] },
      tenantClaim: 'org',
      tenants: ['acme*'],
      agentClaim: 'azp',
      scopes: ['read', 'submit', 'approve'],
      scopesClaim: 'scope',
      type: 'at+jwt',
    });
    verifier = new TokenVerifier([rules], () => {});
  });

  const sign = (change: JWTPayload = {}, header: object = {}, by = key) =>
    new SignJWT({ ...CLAIMS, ...change }).setProtectedHeader({ alg: 'ES256', kid: 'k1', typ: 'at+jwt', ...header }).sign(by);
  const refusal = async (token: string) => {
    const error: unknown = await verifier.verify(token).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof ProblemError ? [error.code, error.detail] : error;
  };

  it('reads subject, tenant, agent and scopes from a valid token', async () => {
    const { principal, expiresAt } = await verifier.verify(await sign({ azp: 'deployer', scope: 'read approve admin openid' }));
    expect(principal).toEqual({
      keyId: `${ISSUER}#user-1`,
      tenantId: 'acme',
      agentId: 'deployer',
      scopes: ['read', 'approve'],
      expiresAt: new Date((NOW + 300) * 1_000).toISOString(),
    });
    expect(expiresAt).toBe((NOW + 300) * 1_000 + rules.clockToleranceMs);
  });

  it('reads the subject from the configured claim of a token, and finds none without the claim', async () => {
    const by = (subjectClaim: string) => new TokenVerifier([{ ...rules, subjectClaim }], () => {});
    const keyIdOf = async (subjectClaim: string, claims: JWTPayload) => (await by(subjectClaim).verify(await sign(claims))).principal.keyId;
    expect(await keyIdOf('oid', { oid: 'person-1' })).toBe(`${ISSUER}#person-1`);
    expect(await keyIdOf('oid', { oid: 'person-1', sub: undefined })).toBe(`${ISSUER}#person-1`);
    await expect(keyIdOf('oid', {})).rejects.toThrow(/oid/);
    await expect(keyIdOf('oid', { oid: { toString: 'person-1' } })).rejects.toThrow(/claim oid is wrong/);
    const email = 'ada@example.com';
    expect(await keyIdOf('email', { email, email_verified: true })).toBe(`${ISSUER}#${email}`);
    await expect(keyIdOf('email', { email })).rejects.toThrow(/claim email is wrong: expected .* email_verified: true/);
    await expect(keyIdOf('email', { email, email_verified: 'true' })).rejects.toThrow(/claim email is wrong/);
  });

  const WRONG: readonly (readonly [string, JWTPayload, RegExp])[] = [
    ['another issuer', { iss: 'https://evil.example.com' }, /issuer is not trusted.*evil/],
    ['an issuer that ends otherwise', { iss: `${ISSUER}/` }, /issuer is not trusted/],
    ['no issuer', { iss: undefined }, /issuer is not trusted.*none/],
    ['an issuer that is no text', { iss: 1 as never }, /issuer is not trusted/],
    ['another audience', { aud: 'another-service' }, /another audience: expected toolyard or other/],
    ['no audience', { aud: undefined }, /aud/],
    ['an end in the past', { exp: NOW - 60 }, /has expired/],
    ['no end', { exp: undefined }, /exp/],
    ['an end that is no number', { exp: '2099' as never }, /exp/],
    ['an end beyond all times', { exp: 1e300 }, /claim exp is wrong/],
    ['a beginning in the future', { nbf: NOW + 600 }, /nbf/],
    ['no subject', { sub: undefined }, /sub/],
    ['an empty subject', { sub: '' }, /claim sub is wrong/],
    ['a subject with braces', { sub: '{redis}' }, /claim sub is wrong/],
    ['a subject with a line break', { sub: 'a\nb' }, /claim sub is wrong/],
    ['a subject that is too long', { sub: 'x'.repeat(256) }, /claim sub is wrong/],
    ['no tenant', { org: undefined }, /claim org is wrong/],
    ['a tenant that is no name', { org: '../other' }, /claim org is wrong/],
    ['a tenant in a list', { org: ['acme'] }, /claim org is wrong/],
    ['a tenant that the issuer may not speak for', { org: 'rival' }, /claim org is wrong.*may speak for/],
    ['an agent that is no name', { azp: 'a b' }, /claim azp is wrong/],
  ];
  it.each(WRONG)('refuses a token with %s, and names the claim', async (_what, change, detail) => {
    expect(await refusal(await sign(change))).toEqual(['unauthenticated', expect.stringMatching(detail)]);
  });

  it('refuses a token when another key signed it, its key is unknown, or its type is another', async () => {
    expect(await refusal(await sign({}, {}, other))).toEqual(['unauthenticated', expect.stringContaining('signature')]);
    expect(await refusal(await sign({}, { kid: 'k2' }))).toEqual(['unauthenticated', expect.stringContaining('a key that')]);
    expect(await refusal(await sign({}, { typ: 'JWT' }))).toEqual(['unauthenticated', expect.stringContaining('typ')]);
  });

  it('refuses a token without a signature, or signed with a shared secret', async () => {
    const unsecured = new UnsecuredJWT(CLAIMS).encode();
    expect(await refusal(unsecured)).toEqual(['unauthenticated', expect.any(String)]);
    expect(await refusal(`${unsecured}c2ln`)).toEqual(['unauthenticated', expect.stringContaining('not accepted')]);
    const secret = new TextEncoder().encode(JSON.stringify(rules.jwks));
    const shared = await new SignJWT(CLAIMS).setProtectedHeader({ alg: 'HS256', kid: 'k1', typ: 'at+jwt' }).sign(secret);
    expect(await refusal(shared)).toEqual(['unauthenticated', expect.stringContaining('not accepted')]);
  });

  it('refuses a token that was changed at any place, or is no token at all', async () => {
    const token = await sign();
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 3), fc.constantFrom('A', 'z', '.', '-'), async (at, char) => {
        const changed = token.slice(0, at) + char + token.slice(at + 1);
        fc.pre(changed !== token);
        expect(await refusal(changed)).toEqual(['unauthenticated', expect.any(String)]);
      }),
      { numRuns: 100 },
    );
    for (const text of ['', '..', 'a.b.c', 'e30.e30.', 'bnVsbA.bnVsbA.bnVsbA', 'e30.W10.AA'])
      expect(await refusal(text)).toEqual(['unauthenticated', expect.any(String)]);
  });
});

describe('scopes of a token', () => {
  const rulesWith = (more: object) =>
    JwtIssuer.parse({ issuer: ISSUER, audience: 'a', jwks: { keys: [{ kty: 'EC' }] }, tenant: 'acme', ...more });
  const scopesOf = (claims: object, more: object) => tokenPrincipal({ sub: 's', exp: NOW, ...claims }, rulesWith(more)).scopes;

  it('grants all scopes of the issuer without a scope claim setting, and none for a missing or unknown claim', () => {
    expect(scopesOf({}, {})).toEqual(['submit', 'read', 'cancel']);
    for (const claims of [{}, { scope: '' }, { scope: 'openid' }, { scope: 1 }, { scope: { read: true } }])
      expect(scopesOf(claims, { scopesClaim: 'scope' })).toEqual([]);
    expect(scopesOf({ roles: ['viewer'] }, { scopesClaim: 'roles', scopeMap: { viewer: ['read'] } })).toEqual(['read']);
    expect(scopesOf({ roles: ['constructor', 'read'] }, { scopesClaim: 'roles', scopeMap: { viewer: ['read'] } })).toEqual([]);
  });

  it('grants a token at most the scopes of its issuer, for any claim and map', () => {
    const scopes = fc.subarray([...SCOPES], { minLength: 1 });
    const words = fc.array(fc.oneof(fc.constantFrom(...SCOPES), fc.string()));
    fc.assert(
      fc.property(scopes, words, fc.boolean(), fc.dictionary(fc.string({ minLength: 1 }), scopes), (allowed, claim, asText, scopeMap) => {
        const given = scopesOf({ scope: asText ? claim.join(' ') : claim }, { scopes: allowed, scopesClaim: 'scope', scopeMap });
        expect(given.filter((scope) => !allowed.includes(scope))).toEqual([]);
      }),
    );
  });
});
