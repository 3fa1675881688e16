import { z } from 'zod';
import { AgentGlob, DEFAULT_SCOPES, Scope, UserGlob } from '../values/principal.js';
import { Label } from '../values/names.js';

/** Signatures with a private key. Excludes those with a shared secret: a public key could be used as the secret. */
export const JWT_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

const MAX_ISSUERS = 100;
const Claim = z.string().min(1).max(256);
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

export const IssuerUrl = z
  .url({ protocol: /^https?$/ })
  .max(500)
  .regex(/^[^#\s]*$/, 'expected a URL without a fragment, as the claim `iss` has it');
const JwksUrl = z
  .url({ protocol: /^https?$/ })
  .refine((text) => isPrivateOnTheWay(text), 'expected https; http only to this machine, since the keys decide who is let in');

const PublicKey = z
  .looseObject({ kty: z.string().describe('Kind of key, such as `RSA`.') })
  .refine((key) => key.kty !== 'oct' && !('d' in key), 'expected a public key; this one holds a secret');

/** Issuer in the config file whose JWTs are accepted as bearer tokens. */
export const JwtIssuer = z
  .strictObject({
    issuer: IssuerUrl.describe('The claim `iss` of its tokens, character for character.'),
    audience: z
      .union([z.string().min(1).max(500), z.array(z.string().min(1).max(500)).min(1).max(20)])
      .describe('The claim `aud` must hold this text, or one of these.'),
    jwksUrl: JwksUrl.optional().describe('Where its public keys are. Exactly one of `jwksUrl` and `jwks`.'),
    jwks: z
      .strictObject({ keys: z.array(PublicKey).min(1).max(50).describe('The keys.') })
      .optional()
      .describe('Its public keys, as a JSON Web Key Set.'),
    refreshMs: z
      .number()
      .int()
      .min(1_000)
      .max(86_400_000)
      .default(300_000)
      .describe(
        'The keys of `jwksUrl` are read again so often. A key that is taken away there counts until the next read, which the first token after this time begins; tokens that a gateway knows go on for a minute more, so with the default six minutes. To end a key at once, change `jwks` or the issuer here.',
      ),
    cooldownMs: z
      .number()
      .int()
      .min(0)
      .max(600_000)
      .default(10_000)
      .describe('Least time between two reads of `jwksUrl` for tokens that name an unknown key.'),
    algorithms: z
      .array(z.enum(JWT_ALGORITHMS))
      .min(1)
      .default(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'])
      .describe('Signatures that are accepted.'),
    type: z.string().min(1).max(100).optional().describe('The header `typ` that tokens must have, such as `at+jwt`. Not set: any.'),
    clockToleranceMs: z.number().int().min(0).max(60_000).default(5_000).describe('How far its clock may differ.'),
    tenant: Label.optional().describe('The owner of all that is done with its tokens. Exactly one of `tenant` and `tenantClaim`.'),
    tenantClaim: Claim.optional().describe('The claim that names the tenant.'),
    tenants: z
      .array(AgentGlob)
      .optional()
      .describe('Tenants that `tenantClaim` may name, as names or globs. Not set: any, so only for an issuer that may speak for all.'),
    subjectClaim: Claim.default('sub').describe(
      'The claim that names the person or program behind a token, for four eyes, rates and the log. Another than `sub` where that differs from client to client: one that the issuer gives to no one else, ever, and that no one can choose. With `email`, `email_verified` must be true.',
    ),
    agentClaim: Claim.optional().describe('The claim that names the agent of calls that name none.'),
    agents: z.array(AgentGlob).optional().describe('The agents that calls may name in `agentId` besides, as names or globs.'),
    userClaim: Claim.optional().describe('The claim that names the user of calls, such as `sub` or `email`. Not set: they have none.'),
    users: z.array(UserGlob).optional().describe('The users that calls may name in `userId` besides, as ids or globs.'),
    scopes: z
      .array(Scope)
      .min(1)
      .default([...DEFAULT_SCOPES])
      .describe('The most that a token may do. `approve`, `admin`, `operate` and `work` only where they are listed.'),
    scopesClaim: Claim.optional().describe(
      'The claim that narrows them: a list, or words in a text, such as `scope`. Not set: every token has all of `scopes`.',
    ),
    scopeMap: z
      .record(z.string().min(1).max(256), z.array(Scope))
      .optional()
      .describe('Scopes by words of `scopesClaim`. Not set: the words are scopes. A token without a known word may do nothing.'),
    tools: z
      .array(z.string().min(1))
      .optional()
      .describe('Patterns of the tools that its tokens may use; behind `!`, of those that they may not use. Not set: all.'),
    ratePerMinute: z
      .number()
      .int()
      .positive()
      .optional()
      .describe('Requests a minute of one subject, over all gateways. Not set: KEY_RATE_PER_MINUTE of each gateway.'),
  })
  .refine((it) => (it.jwksUrl === undefined) !== (it.jwks === undefined), 'expected exactly one of `jwksUrl` and `jwks`')
  .refine((it) => (it.tenant === undefined) !== (it.tenantClaim === undefined), 'expected exactly one of `tenant` and `tenantClaim`')
  .refine((it) => it.scopeMap === undefined || it.scopesClaim !== undefined, 'expected `scopeMap` only with `scopesClaim`')
  .refine((it) => it.tenants === undefined || it.tenantClaim !== undefined, 'expected `tenants` only with `tenantClaim`');
export type JwtIssuer = z.output<typeof JwtIssuer>;

export const JwtIssuers = z
  .array(JwtIssuer)
  .max(MAX_ISSUERS)
  .refine((list) => new Set(list.map(({ issuer }) => issuer)).size === list.length, 'expected a different `issuer` for every entry')
  .default([])
  .describe('Issuers of JWTs that are accepted as bearer tokens besides the API keys.');

export function isPrivateOnTheWay(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || LOOPBACK.has(hostname);
}
