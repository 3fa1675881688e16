import { z } from 'zod';
import { EnvName } from '../hooks/hook.js';
import { KEY_RIGHTS } from '../values/key-rights.js';
import { Label } from '../values/names.js';
import { isPrivateOnTheWay, IssuerUrl } from './jwt-issuer.js';

const Claim = z.string().min(1).max(256);
const HOUR_MS = 3_600_000;

const LoginRole = z.strictObject({
  tenant: Label.default('default').describe('Whose calls people with the role see and decide.'),
  scopes: KEY_RIGHTS.scopes.describe('What they may do. `approve`, `admin` and `operate` only where they are listed.'),
  agents: KEY_RIGHTS.agents.describe('The agents that their own calls may name in `agentId`, as names or globs.'),
  users: KEY_RIGHTS.users.describe('The users that their own calls may name in `userId`, as ids or globs.'),
  tools: KEY_RIGHTS.tools.describe('Patterns of the tools that they may use; behind `!`, of those that they may not use. Not set: all.'),
});

/** Sign-in to the dashboard with an OpenID provider, in the config file. */
export const LoginSettings = z.strictObject({
  name: z.string().min(1).max(60).default('single sign-on').describe('What the login page calls the provider: `Sign in with <name>`.'),
  issuer: IssuerUrl.refine(
    isPrivateOnTheWay,
    'expected https; http only to this machine, since the provider decides who is let in',
  ).describe('The provider, character for character as in its discovery document.'),
  clientId: z.string().min(1).max(500).describe('The client that the provider knows this installation by.'),
  clientSecret: z
    .strictObject({ secretEnv: EnvName.describe('The variable of the gateways that has the secret.') })
    .optional()
    .describe('The secret of the client. Not set: a public client, which PKCE alone protects.'),
  scopes: z
    .array(
      z
        .string()
        .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'expected a scope without blanks')
        .max(200),
    )
    .min(1)
    .default(['openid', 'profile', 'email'])
    .refine((scopes) => scopes.includes('openid'), 'expected `openid` among them')
    .describe('What is asked of the provider. With `offline_access` some give the refresh token by which roles are asked for again.'),
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .max(500)
    .refine(isPrivateOnTheWay, 'expected https; http only to this machine, since a cookie is let in')
    .refine((url) => /^\/*$/.test(new URL(url).pathname) && !/[?#]/.test(url), 'expected an origin such as https://tools.example.com')
    .transform((url) => new URL(url).origin)
    .optional()
    .describe(
      'The origin under which people open the dashboard; `/v1/login/callback` there is the redirect URI of the client. Not set: GATEWAY_PUBLIC_URL.',
    ),
  subjectClaim: Claim.default('sub').describe(
    'The claim that names the person, in decisions and for four eyes; in the ID token or in the answer of the endpoint for user information. Another than `sub` where that differs from client to client: one that the provider gives to no one else, ever, and that people cannot choose. With `email`, `email_verified` must be true.',
  ),
  rolesClaim: Claim.default('roles').describe(
    'The claim with the roles: a list, or words in a text. A dot leads into an object: `realm_access.roles`.',
  ),
  roleMap: z
    .record(z.string().min(1).max(256), LoginRole)
    .refine((map) => Object.keys(map).length > 0, 'expected at least one role')
    .refine(keepsItsOrder, 'expected roles of one tenant where a name is a whole number: such names come first, whatever the file says')
    .describe('What each role may do. The first one here that a person has names the tenant; their other roles of this tenant add up.'),
  allowedDomains: z
    .array(z.string().regex(/^[a-z0-9.-]{1,253}$/, 'expected a domain in lower case such as example.com'))
    .min(1)
    .optional()
    .describe('Only people with a verified e-mail address of one of these domains. Not set: all with a role.'),
  idleMs: z
    .int()
    .min(60_000)
    .max(30 * 24 * HOUR_MS)
    .default(HOUR_MS)
    .describe('A login ends after this time without a request.'),
  maxMs: z
    .int()
    .min(60_000)
    .max(30 * 24 * HOUR_MS)
    .default(12 * HOUR_MS)
    .describe('A login ends after this time at the latest.'),
  recheckMs: z
    .int()
    .min(0)
    .max(24 * HOUR_MS)
    .default(300_000)
    .describe(
      'The provider is asked again so often, by a refresh token, who the person is and which roles they have. Where it gives none, a login ends after this time.',
    ),
});
export type LoginSettings = z.output<typeof LoginSettings>;

/**
 * True if the order of the roles is kept. JavaScript lists names such as `1001` first, and the first role of a person
 * determines the tenant.
 */
function keepsItsOrder(map: Readonly<Record<string, { readonly tenant: string }>>): boolean {
  const tenants = new Set(Object.values(map).map(({ tenant }) => tenant));
  return tenants.size === 1 || !Object.keys(map).some((role) => /^(0|[1-9]\d{0,9})$/.test(role));
}

/** Origin of the dashboard; undefined if neither setting has one, or if no cookie would be safe there. */
export function loginOrigin({ baseUrl }: Pick<LoginSettings, 'baseUrl'>, publicUrl: string | undefined): string | undefined {
  if (baseUrl !== undefined) return baseUrl;
  if (publicUrl === undefined || !isPrivateOnTheWay(publicUrl)) return undefined;
  const { origin, pathname } = new URL(publicUrl);
  return pathname === '/' ? origin : undefined;
}
