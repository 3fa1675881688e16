import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LoginSettings, ProblemError } from '#contracts';
import { LoginRecord } from './login-records.service.js';
import { LoginSessions } from './login-sessions.service.js';
import { sealToken } from './sealed-token.js';

const origin = 'http://127.0.0.1:1';
const settings = LoginSettings.parse({
  issuer: 'https://issuer.example.com',
  clientId: 'dashboard',
  baseUrl: origin,
  roleMap: { watch: { tenant: 'acme', scopes: ['read'] } },
});
const record: LoginRecord = {
  issuer: settings.issuer,
  clientId: settings.clientId,
  subjectClaim: settings.subjectClaim,
  tenantId: 'acme',
  subject: 'ada',
  sub: 'ada',
  emailVerified: false,
  roles: ['watch'],
  startedAt: Date.now(),
  endsAt: Date.now() + 60_000,
  checkedAt: Date.now(),
};
const person = { subject: 'ada', emailVerified: false, roles: ['watch'] };
const cookie = `toolyard-login=${'A'.repeat(43)}`;

describe('logins of a gateway', () => {
  let text: string | undefined;
  let changed: () => void;
  const read = jest.fn(() => Promise.resolve(text));
  const end = jest.fn(() => Promise.resolve());
  const recheck = jest.fn<() => Promise<unknown>>();
  let update: () => Promise<boolean> = () => Promise.resolve(true);
  const publish = jest.fn(() => Promise.resolve(1));
  const subscribe = (_topic: string, listener: () => void) => {
    changed = listener;
    return () => {};
  };
  let logins: LoginSessions;

  beforeEach(() => {
    jest.clearAllMocks();
    text = JSON.stringify(record);
    const parts: unknown[] = [
      { login: settings, admitLogin: () => {}, endLogin: () => {} },
      { read, end, mayRecheck: () => Promise.resolve(true), recheckDone: () => Promise.resolve(), update: () => update() },
      { originOf: () => origin, recheck },
      { subscribe },
      { publish },
      { warn: () => {} },
    ];
    logins = new LoginSessions(...(parts as ConstructorParameters<typeof LoginSessions>));
    logins.onApplicationBootstrap();
  });
  afterEach(() => logins.onApplicationShutdown());

  it('announces the end of a login to other gateways, but not for an unknown cookie', async () => {
    await logins.end(settings, cookie);
    expect([end.mock.calls.length, publish.mock.calls.length]).toEqual([1, 1]);
    text = undefined;
    await logins.end(settings, cookie);
    expect([end.mock.calls.length, publish.mock.calls.length]).toEqual([1, 1]);
  });

  it('ends a login only after its preparation has succeeded', async () => {
    const whose: string[] = [];
    const refused = logins.end(settings, cookie, ({ tenantId }) => {
      whose.push(tenantId);
      return Promise.reject(new Error('not recorded'));
    });
    await expect(refused).rejects.toThrow('not recorded');
    expect([whose, end.mock.calls.length, publish.mock.calls.length]).toEqual([['acme'], 0, 0]);
  });

  it.each([
    ['the provider is away', () => Promise.reject(new ProblemError('unavailable', 'away')), 'goes on'],
    ['Redis is away', () => ((update = () => Promise.reject(new Error('no Redis'))), Promise.resolve({ claims: person })), 'goes on'],
    ['the provider refuses', () => Promise.reject(new ProblemError('unauthenticated', 'no')), 'ends'],
  ])('asks the provider again about a login while %s', async (_when, answer, then) => {
    const refreshToken = sealToken('refresh', 'A'.repeat(43));
    text = JSON.stringify({ ...record, checkedAt: 0, refreshToken });
    recheck.mockImplementation(answer);
    expect((await logins.find(cookie)) === undefined).toBe(then === 'ends');
    expect(end.mock.calls.length).toBe(then === 'ends' ? 1 : 0);
  });

  it('rechecks logins once during a check and once after it, for any number of messages', async () => {
    await logins.find(cookie);
    read.mockClear();
    const looks: (() => void)[] = [];
    read.mockImplementation(() => new Promise((resolve) => looks.push(() => resolve(text))));
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    const flood = async () => {
      for (let message = 0; message < 100; message += 1) changed();
      await settle();
    };
    await flood();
    await flood();
    expect(read).toHaveBeenCalledTimes(1);
    looks.shift()?.();
    await settle();
    expect(read).toHaveBeenCalledTimes(2);
    looks.shift()?.();
    await settle();
    expect(read).toHaveBeenCalledTimes(2);
  });
});
