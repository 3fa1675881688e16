import type { JWTPayload } from 'jose';
import { Label, ProblemError, Scope, type JwtIssuer, type Principal } from '#contracts';
import { anyGlobMatches } from '../tool-patterns.js';

/** Visible ASCII characters, as in OpenID Connect; without braces, which are special in keys of Redis. */
const SUBJECT_FORM = 'visible characters of ASCII without braces, at most 255';
const SUBJECT = /^[\x21-\x7a\x7c\x7e]{1,255}$/;
const MAX_WORDS = 200;
/** End of the year 9999, s since the epoch. */
const LATEST = 253_402_300_799;

/**
 * Principal of a verified token. Its scopes are those of its claim that the issuer may grant.
 * @throws ProblemError `unauthenticated` that names the wrong claim
 */
export function tokenPrincipal(claims: JWTPayload, rules: JwtIssuer): Principal {
  const { subjectClaim } = rules;
  const { exp = 0 } = claims;
  const subject = subjectIn(claims, subjectClaim);
  if (subject === undefined)
    throw wrongClaim(subjectClaim, subjectClaim === 'email' ? `${SUBJECT_FORM}, and email_verified: true` : SUBJECT_FORM);
  if (exp > LATEST) throw wrongClaim('exp', 'a time before the year 10000, in seconds');
  const agentId = rules.agentClaim === undefined ? undefined : labelOf(claims, rules.agentClaim, 'agent');
  const userId = rules.userClaim === undefined ? undefined : labelOf(claims, rules.userClaim, 'user');
  return {
    keyId: tokenKeyId(rules.issuer, subject),
    tenantId: tenantOf(claims, rules),
    scopes: scopesOf(claims, rules),
    ...(agentId === undefined ? {} : { agentId }),
    ...(userId === undefined ? {} : { userId }),
    ...boundsOf(rules),
    expiresAt: new Date(exp * 1_000).toISOString(),
  };
}

/** Id of a person in a claim; undefined if it is invalid. An address that the issuer has not verified identifies no one. */
export function subjectIn(claims: Readonly<Record<string, unknown>>, claim: string): string | undefined {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  if (typeof value !== 'string' || !SUBJECT.test(value)) return undefined;
  return claim === 'email' && claims['email_verified'] !== true ? undefined : value;
}

/** Bounds of the issuer for all its tokens. */
export function boundsOf({
  agents,
  users,
  tools,
  ratePerMinute,
}: JwtIssuer): Pick<Principal, 'agents' | 'users' | 'tools' | 'ratePerMinute'> {
  return {
    ...(agents === undefined ? {} : { agents }),
    ...(users === undefined ? {} : { users }),
    ...(tools === undefined ? {} : { tools }),
    ...(ratePerMinute === undefined ? {} : { ratePerMinute }),
  };
}

/** True if the issuer may serve the tenant. */
export function isIssuerOf({ tenant, tenants }: JwtIssuer, tenantId: string): boolean {
  return tenant === undefined ? tenants === undefined || anyGlobMatches(tenants, tenantId) : tenant === tenantId;
}

/** Id of a token's subject. Neither ids of API keys nor issuers contain `#`, so two subjects never share an id. */
function tokenKeyId(issuer: string, subject: string): string {
  return `${issuer}#${subject}`;
}

/** Issuer of the token behind the id; undefined for the id of an API key. */
export function issuerOfKeyId(keyId: string): string | undefined {
  const end = keyId.indexOf('#');
  return end < 0 ? undefined : keyId.slice(0, end);
}

/** Subject of the token behind the id; undefined for the id of an API key. */
export function subjectOfKeyId(keyId: string): string | undefined {
  const end = keyId.indexOf('#');
  return end < 0 ? undefined : keyId.slice(end + 1);
}

function tenantOf(claims: JWTPayload, rules: JwtIssuer): string {
  const { tenant, tenantClaim = '' } = rules;
  if (tenant !== undefined) return tenant;
  const named = labelOf(claims, tenantClaim, 'tenant');
  if (named === undefined) throw wrongClaim(tenantClaim, 'the name of a tenant; it is missing');
  if (!isIssuerOf(rules, named)) throw wrongClaim(tenantClaim, 'a tenant that this issuer may speak for');
  return named;
}

function labelOf(claims: JWTPayload, claim: string, what: string): string | undefined {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  if (value === undefined) return undefined;
  const { data } = Label.safeParse(value);
  if (data === undefined) throw wrongClaim(claim, `the name of one ${what}: 1 to 128 of the characters A-Z a-z 0-9 . _ @ -`);
  return data;
}

function scopesOf(claims: JWTPayload, { scopes, scopesClaim, scopeMap }: JwtIssuer): Scope[] {
  if (scopesClaim === undefined) return [...scopes];
  const given = Object.hasOwn(claims, scopesClaim) ? claims[scopesClaim] : undefined;
  const words = typeof given === 'string' ? given.split(/ +/) : Array.isArray(given) ? given.map(String) : [];
  const granted = new Set<Scope>(words.slice(0, MAX_WORDS).flatMap((word) => meaningOf(word, scopeMap)));
  return scopes.filter((scope) => granted.has(scope));
}

function meaningOf(word: string, scopeMap: JwtIssuer['scopeMap']): readonly Scope[] {
  if (scopeMap !== undefined) return Object.hasOwn(scopeMap, word) ? (scopeMap[word] ?? []) : [];
  const { data } = Scope.safeParse(word);
  return data === undefined ? [] : [data];
}

function wrongClaim(claim: string, expected: string): ProblemError {
  return new ProblemError('unauthenticated', `The token's claim ${claim} is wrong: expected ${expected}`);
}
