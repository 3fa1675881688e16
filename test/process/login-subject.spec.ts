import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LoginSettings, type Me } from '#contracts';
import { Authenticator } from '../../apps/gateway/src/auth/authenticator.service.js';
import { freePort } from '../support/free-port.mjs';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { CLIENT_ID, CLIENT_SECRET, TestLoginProvider } from '../support/login-provider.js';
import { CookieJar, follow, Page, visit } from '../support/signing-in.js';

const TENANT = 'login-subject';
const ADA = { sub: 'pairwise-1', name: 'Ada', email: 'ada@example.com', email_verified: true, roles: ['operators'], employee: 'E-17' };

let provider: TestLoginProvider;
let gateway: TestGateway;
let origin: string;

/** Names people by this claim from now on, with a check at the provider for every request. */
const nameBy = (subjectClaim: string, recheckMs = 0) => {
  const login = { ...settings(), subjectClaim, recheckMs };
  gateway.app.get(Authenticator).replace([], [], login);
};
const settings = () =>
  LoginSettings.parse({
    issuer: provider.issuer,
    clientId: CLIENT_ID,
    clientSecret: { secretEnv: 'LOGIN_SECRET' },
    scopes: ['openid', 'profile', 'email', 'roles'],
    baseUrl: origin,
    roleMap: { operators: { tenant: TENANT, scopes: ['read'] } },
  });

beforeAll(async () => {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  provider = await TestLoginProvider.start([`${origin}/v1/login/callback`]);
  gateway = await startTestGateway(TENANT, { startTimeoutMs: 60_000, port, login: settings(), env: { LOGIN_SECRET: CLIENT_SECRET } });
});
afterAll(async () => {
  await gateway?.close();
  await provider?.close();
});
beforeEach(() => {
  provider.person = ADA;
});

const comeBack = async (jar: CookieJar) => visit(jar, (await follow(jar, `${origin}/v1/login`, /\/v1\/login\/callback/)).url);
const signIn = async () => {
  const jar = new CookieJar();
  expect((await comeBack(jar)).status).toBe(302);
  return new Page(jar, origin);
};
const refusal = async () => (await comeBack(new CookieJar())).status;

describe('a person who signs in', () => {
  it('identifies a person who signs in by the configured claim, while the provider keeps it', async () => {
    nameBy('employee');
    const page = await signIn();
    const { body: me } = await page.get<Me>('/v1/me');
    expect(me).toMatchObject({ keyId: `${provider.issuer}#E-17`, person: { subject: 'E-17', name: 'Ada' } });
    expect(await page.status()).toBe(200);
    provider.person = { ...ADA, employee: 'E-18' };
    expect(await page.status()).toBe(401);
  });

  it('asks a person to sign in again when another claim identifies people, also with the same value', async () => {
    provider.person = { ...ADA, employee: ADA.sub };
    nameBy('sub', 60_000);
    const page = await signIn();
    nameBy('employee', 60_000);
    expect(await page.status()).toBe(401);
    nameBy('sub', 60_000);
    expect(await page.status()).toBe(200);
  });

  it('refuses a login without the identifying claim, or with an unverified address', async () => {
    nameBy('oid');
    expect(await refusal()).toBe(401);
    nameBy('email');
    provider.person = { ...ADA, email_verified: false };
    expect(await refusal()).toBe(401);
    provider.person = ADA;
    expect((await (await signIn()).get<Me>('/v1/me')).body.keyId).toBe(`${provider.issuer}#ada@example.com`);
  });
});
