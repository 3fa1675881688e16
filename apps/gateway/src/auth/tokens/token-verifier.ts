import { decodeJwt, errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { ProblemError, type JwtIssuer, type Principal } from '#contracts';
import { issuerKeys } from './issuer-keys.js';
import { tokenPrincipal } from './token-principal.js';

/** Token with a valid signature and valid claims. */
export interface VerifiedToken {
  readonly principal: Principal;
  /** Expiry in ms since the epoch, with the tolerance for the issuer's clock. */
  readonly expiresAt: number;
  readonly issuer: JwtIssuer;
}

interface Trusted {
  readonly rules: JwtIssuer;
  readonly keys: JWTVerifyGetKey;
}

const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** True for a bearer token in the form of a signed JWT. */
export function isJwt(token: string): boolean {
  return COMPACT.test(token);
}

/** Verifies tokens of the issuers of one version of the config. Stores no tokens. */
export class TokenVerifier {
  private readonly trusted: ReadonlyMap<string, Trusted>;

  /** Reuses the keys of issuers with the same settings in `before`. `failed` is called if the keys of an issuer cannot be read. */
  constructor(
    readonly issuers: readonly JwtIssuer[],
    failed: (issuer: string, error: unknown) => void,
    before?: TokenVerifier,
  ) {
    this.trusted = new Map(
      issuers.map((rules) => {
        const previous = before?.trusted.get(rules.issuer);
        if (previous !== undefined && isSame(previous.rules, rules)) return [rules.issuer, previous];
        return [rules.issuer, { rules, keys: issuerKeys(rules, (error) => failed(rules.issuer, error)) }];
      }),
    );
  }

  /** Settings of the issuer; undefined if it is no longer trusted. */
  rulesOf(issuer: string): JwtIssuer | undefined {
    return this.trusted.get(issuer)?.rules;
  }

  /** @throws ProblemError `unauthenticated` with the reason, `unavailable` if the issuer's keys cannot be read */
  async verify(token: string): Promise<VerifiedToken> {
    const { rules, keys } = this.trustedOf(token);
    const { issuer, audience, algorithms, type: typ, clockToleranceMs, subjectClaim } = rules;
    const options = { issuer, audience, algorithms, clockTolerance: clockToleranceMs / 1_000, requiredClaims: [subjectClaim, 'exp'] };
    const { payload } = await jwtVerify(token, keys, { ...options, ...(typ === undefined ? {} : { typ }) }).catch((error: unknown) => {
      throw error instanceof ProblemError ? error : refusalOf(error, rules);
    });
    const principal = Object.freeze(tokenPrincipal(payload, rules));
    return { principal, expiresAt: (payload.exp ?? 0) * 1_000 + clockToleranceMs, issuer: rules };
  }

  private trustedOf(token: string): Trusted {
    let issuer: unknown;
    try {
      issuer = decodeJwt(token).iss;
    } catch {
      throw new ProblemError('unauthenticated', 'The token is no JWT: its parts are not JSON');
    }
    const found = typeof issuer === 'string' ? this.trusted.get(issuer) : undefined;
    if (found !== undefined) return found;
    const got = typeof issuer === 'string' ? JSON.stringify(issuer.slice(0, 200)) : 'none';
    throw new ProblemError('unauthenticated', `The token's issuer is not trusted here: its claim iss is ${got}`);
  }
}

export function isSame(one: JwtIssuer, other: JwtIssuer): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Problem for an error of jose, whose messages contain names of claims and never their values. */
function refusalOf(error: unknown, { audience, issuer, algorithms }: JwtIssuer): ProblemError {
  const refused = (why: string) => new ProblemError('unauthenticated', why);
  if (error instanceof errors.JWTExpired) return refused('The token has expired: get a new one');
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'aud')
    return refused(`The token is for another audience: expected ${[audience].flat().join(' or ')} in its claim aud`);
  if (error instanceof errors.JOSEAlgNotAllowed)
    return refused(`The token is signed in a way that is not accepted: expected ${algorithms.join(', ')}`);
  if (error instanceof errors.JWKSNoMatchingKey) return refused(`The token names a key that ${issuer} does not have`);
  if (error instanceof errors.JWKSMultipleMatchingKeys) return refused(`The token names no key (kid), and ${issuer} has several`);
  if (error instanceof errors.JOSEError) return refused(`The token is not valid: ${error.message}`);
  return refused('The token is not valid');
}
