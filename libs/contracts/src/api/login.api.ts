import { z } from 'zod';
import { Person, Principal } from '../values/principal.js';
import { BODY, KEY, type Route } from './route.api.js';

/** Header of each changing request from a page of the gateway, which pages of other sites cannot set. */
export const LOGIN_HEADER = 'x-toolyard-request';

export const LOGIN_LIMITS = { returnToChars: 512, perPerson: 20, roles: 200 } as const;

const Time = z.string();

export const LoginOptions = z
  .object({
    provider: z
      .object({
        name: z.string().describe('What to call it: `Sign in with <name>`.'),
        url: z.string().describe('Where signing in begins. `?returnTo=/path` leads back to a page of the dashboard.'),
      })
      .optional()
      .describe('Absent where no provider is configured: then an API key is needed.'),
    signedIn: z.boolean().describe('Whether the request came with the cookie of a login that counts.'),
  })
  .meta({
    id: 'LoginOptions',
    description: 'How people sign in here.',
    examples: [{ provider: { name: 'Example', url: 'https://tools.example.com/v1/login' }, signedIn: false }],
  });
export type LoginOptions = z.output<typeof LoginOptions>;

const ADA = { subject: '5b1c0a7e', name: 'Ada Example', email: 'ada@example.com' };
const AT = '2026-01-31T12:00:00.000Z';

export const Me = Principal.extend({
  login: z
    .object({
      roles: z.array(z.string()).describe('Those roles of the person that count here.'),
      startedAt: Time.describe('When they signed in: RFC 3339, UTC.'),
      endsAt: Time.describe('When they have to sign in again at the latest: RFC 3339, UTC.'),
      idleMs: z.number().int().describe('Milliseconds without a request after which the login ends.'),
    })
    .optional()
    .describe('The login. Absent for keys and tokens.'),
}).meta({
  id: 'Me',
  description: 'Who asks.',
  examples: [
    {
      keyId: 'https://login.example.com#5b1c0a7e',
      tenantId: 'default',
      scopes: ['read', 'approve'],
      person: ADA,
      login: { roles: ['operators'], startedAt: AT, endsAt: '2026-02-01T00:00:00.000Z', idleMs: 3_600_000 },
    },
  ],
});
export type Me = z.output<typeof Me>;

export const SignedOut = z
  .object({
    providerUrl: z
      .string()
      .optional()
      .describe('Where the person may end their login at the provider, too. Absent where it has no such page.'),
  })
  .meta({
    id: 'SignedOut',
    description: 'The login is over.',
    examples: [{ providerUrl: 'https://login.example.com/logout?client_id=toolyard' }],
  });
export type SignedOut = z.output<typeof SignedOut>;

export const Login = z
  .object({
    person: Person.describe('Who has signed in.'),
    startedAt: Time.describe('When: RFC 3339, UTC.'),
    endsAt: Time.describe('When it ends at the latest: RFC 3339, UTC.'),
  })
  .meta({ id: 'Login', description: 'A login to the dashboard.' });
export type Login = z.output<typeof Login>;

export const LoginPage = z.object({ logins: z.array(Login).describe('Oldest first.') }).meta({
  id: 'LoginPage',
  description: 'The logins of the tenant.',
  examples: [{ logins: [{ person: ADA, startedAt: AT, endsAt: '2026-02-01T00:00:00.000Z' }] }],
});
export type LoginPage = z.output<typeof LoginPage>;

export const EndLoginsBody = z
  .strictObject({
    subject: z.string().min(1).max(255).describe('The claim that names the person (`login.subjectClaim`), as `GET /v1/logins` lists it.'),
    keys: z
      .boolean()
      .default(false)
      .describe(
        'Also revoke the API keys whose text the person got: those that they made or rotated, and those made with these. Keys of the config file stay.',
      ),
  })
  .meta({ id: 'EndLogins', description: 'Whose logins are ended.', examples: [{ subject: ADA.subject, keys: true }] });
export type EndLoginsBody = z.output<typeof EndLoginsBody>;

export const LoginsEnded = z
  .object({
    ended: z.number().int().describe('How many logins there were.'),
    keysRevoked: z.array(z.string()).optional().describe('The ids of the keys that were revoked, with `keys: true`.'),
  })
  .meta({
    id: 'LoginsEnded',
    description: 'The logins are over.',
    examples: [{ ended: 2, keysRevoked: ['key-01jz8c5w3q4x9r7t2m6k8n0p1v'] }],
  });
export type LoginsEnded = z.output<typeof LoginsEnded>;

const html = (description: string) => ({ description, mediaType: 'text/html', schema: z.string() });
/** Pages for browsers, which request `text/html`, in place of a problem. */
const PAGES = {
  401: html('A page that says what did not fit.'),
  403: html('A page that says who the person is and which roles would do.'),
  422: html('A page that says what is wrong.'),
  429: html('A page that says that there were too many.'),
  501: html('A page that says that no provider is configured.'),
  503: html('A page that says that the provider does not answer; keys work.'),
} as const;
const COOKIE = ['Location', 'Set-Cookie'] as const;
const AWAY = ['unavailable', 'overloaded', 'too_many_requests', 'not_implemented'] as const;

export const LOGIN_ROUTES = {
  startLogin: {
    method: 'get',
    path: '/v1/login',
    tag: 'login',
    summary: 'Sign in to the dashboard with the OpenID provider',
    description: 'For browsers. Keys are not asked for here and work without it.',
    query: z.strictObject({
      returnTo: z
        .string()
        .max(LOGIN_LIMITS.returnToChars)
        .optional()
        .describe('The path of the page to come back to. Not set: the first page.'),
    }),
    responses: { 302: { description: 'To the provider.', headers: COOKIE }, ...PAGES },
    problems: ['invalid_request', ...AWAY],
  },
  finishLogin: {
    method: 'get',
    path: '/v1/login/callback',
    tag: 'login',
    summary: 'Where the provider sends the browser back to',
    description:
      'Checks what the provider answers, sets the cookie of the login and leads back to the page. For browsers: programs use an API key.',
    query: z.looseObject({
      state: z
        .string()
        .max(512)
        .optional()
        .meta({ description: 'As `GET /v1/login` gave it to the provider. It counts once.', examples: ['f3b1Zk0mQ7w'] }),
    }),
    responses: {
      302: { description: 'To the page from which the person came, signed in.', headers: COOKIE },
      ...PAGES,
    },
    problems: ['invalid_request', 'unauthenticated', 'forbidden', ...AWAY],
  },
  loginOptions: {
    method: 'get',
    path: '/v1/login/options',
    tag: 'login',
    summary: 'How people sign in here, and whether the one who asks has',
    description: 'Needs no key and no login: the login page of the dashboard asks this first.',
    responses: { 200: { description: 'For the login page.', schema: LoginOptions } },
    problems: [],
  },
  signOut: {
    method: 'post',
    path: '/v1/logout',
    idempotent: true,
    tag: 'login',
    summary: 'End the login of the cookie, on all gateways',
    description: `Needs the header \`${LOGIN_HEADER}\`, as every request with the cookie that changes something. Without a login it answers the same.`,
    responses: { 200: { description: 'It is over.', headers: ['Set-Cookie'], schema: SignedOut } },
    problems: ['unavailable', 'not_implemented'],
  },
  getMe: {
    method: 'get',
    path: '/v1/me',
    tag: 'login',
    scope: 'read',
    summary: 'Who asks, as a person where one has signed in',
    responses: { 200: { description: 'Of the login, key or token that asks.', schema: Me } },
    problems: [...KEY],
  },
  listLogins: {
    method: 'get',
    path: '/v1/logins',
    tag: 'login',
    scope: 'admin',
    summary: 'Who is signed in to the tenant',
    responses: { 200: { description: 'All logins that count.', schema: LoginPage } },
    problems: [...KEY],
  },
  endLogins: {
    method: 'post',
    path: '/v1/logins/end',
    idempotent: true,
    tag: 'login',
    scope: 'admin',
    summary: 'End all logins of a person to the tenant, on all gateways',
    description:
      'They may sign in again, unless the provider refuses them or takes their roles. Keys that they made go on, also when their roles are gone, unless `keys` says otherwise.',
    body: EndLoginsBody,
    responses: { 200: { description: 'They are over.', schema: LoginsEnded } },
    problems: [...BODY, ...KEY],
  },
} as const satisfies Record<string, Route>;
