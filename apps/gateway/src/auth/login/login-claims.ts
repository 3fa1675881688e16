import { LOGIN_LIMITS, type LoginSettings, type Person, type Principal } from '#contracts';
import { personText } from '../../platform/event-origin.js';
import { subjectIn } from '../tokens/token-principal.js';
import { rightsOfRoles } from './role-rights.js';

/** Claims of the provider about a person, reduced to the needed ones. */
export interface ProviderClaims {
  /** Id of the person at the provider. */
  readonly sub: string;
  /** Id of the person here: the value of `subjectClaim`. */
  readonly subject: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly emailVerified: boolean;
  readonly roles: readonly string[];
}

const MAX_NAME = 120;
const MAX_EMAIL = 254;

/** Undefined if a claim with the person's id is missing or invalid. */
export function providerClaims(
  claims: Readonly<Record<string, unknown>>,
  { rolesClaim, subjectClaim }: Pick<LoginSettings, 'rolesClaim' | 'subjectClaim'>,
): ProviderClaims | undefined {
  const [sub, subject] = [subjectIn(claims, 'sub'), subjectIn(claims, subjectClaim)];
  if (sub === undefined || subject === undefined) return undefined;
  const name = shown(claims['name'], MAX_NAME) ?? shown(claims['preferred_username'], MAX_NAME);
  const email = shown(claims['email'], MAX_EMAIL);
  return {
    sub,
    subject,
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
    emailVerified: claims['email_verified'] === true,
    roles: rolesOf(claims, rolesClaim),
  };
}

/** Principal of a person, or the reason why there is none. */
export type LoginRights = { readonly principal: Principal; readonly roles: readonly string[] } | { readonly refusal: string };

/** Rights of a person under the current settings. Pure. */
export function rightsOf(claims: Omit<ProviderClaims, 'sub'>, settings: LoginSettings): LoginRights {
  const { allowedDomains, roleMap, issuer } = settings;
  const person = personOf(claims);
  if (allowedDomains !== undefined && !isOfDomain(claims, allowedDomains))
    return { refusal: `${personText(person)} has no verified e-mail address of ${allowedDomains.join(' or ')}, which is needed here` };
  const mapped = Object.entries(roleMap).filter(([role]) => claims.roles.includes(role));
  const tenant = mapped[0]?.[1].tenant;
  if (tenant === undefined) {
    const has = claims.roles.length === 0 ? 'no roles' : `the roles ${claims.roles.slice(0, 20).map(cleaned).join(', ')}`;
    return { refusal: `${personText(person)} has ${has}. One of these is needed here: ${Object.keys(roleMap).join(', ')}` };
  }
  const counting = mapped.filter(([, rights]) => rights.tenant === tenant);
  const principal: Principal = {
    keyId: `${issuer}#${claims.subject}`,
    tenantId: tenant,
    ...rightsOfRoles(counting.map(([, rights]) => rights)),
    person,
  };
  return { principal, roles: counting.map(([role]) => role) };
}

/** Omits an unverified address, which may be anyone's. */
function personOf({ subject, name, email, emailVerified }: Omit<ProviderClaims, 'sub'>): Person {
  return { subject, ...(name === undefined ? {} : { name }), ...(email === undefined || !emailVerified ? {} : { email }) };
}

function isOfDomain({ email = '', emailVerified }: Pick<ProviderClaims, 'email' | 'emailVerified'>, domains: readonly string[]): boolean {
  return emailVerified && domains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase());
}

function rolesOf(claims: Readonly<Record<string, unknown>>, claim: string): string[] {
  const given = Object.hasOwn(claims, claim) ? claims[claim] : atPath(claims, claim.split('.'));
  const words: readonly unknown[] = typeof given === 'string' ? given.split(/ +/) : Array.isArray(given) ? given : [];
  return words
    .slice(0, LOGIN_LIMITS.roles)
    .filter((word) => typeof word === 'string')
    .filter((word) => word !== '' && word.length <= 256);
}

function atPath(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, name) => (typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? Reflect.get(at, name) : undefined),
    value,
  );
}

/** Name without control characters, which could change how a line reads. */
function cleaned(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}<>]/gu, '').trim();
}

function shown(value: unknown, most: number): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = Array.from(cleaned(value)).slice(0, most).join('').trim();
  return text === '' ? undefined : text;
}
