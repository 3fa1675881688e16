import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LoginSettings } from '#contracts';
import { LoginRecord } from './login-records.service.js';
import { LoginSessions } from './login-sessions.service.js';

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
  tenantId: 'acme',
  subject: 'ada',
  emailVerified: false,
  roles: ['watch'],
  startedAt: Date.now(),
  endsAt: Date.now() + 60_000,
  checkedAt: Date.now(),
};
const cookie = `toolyard-login=${'A'.repeat(43)}`;

describe('logins of a gateway', () => {
  let text: string | undefined;
  let changed: () => void;
  const read = jest.fn(() => Promise.resolve(text));
  const end = jest.fn(() => Promise.resolve());
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
      { read, end },
      { originOf: () => origin },
      { subscribe },
      { publish },
      {},
    ];
    logins = new LoginSessions(...(parts as ConstructorParameters<typeof LoginSessions>));
    logins.onApplicationBootstrap();
  });
  afterEach(() => logins.onApplicationShutdown());

  it('tell the other gateways of the end of a login, and nothing for a cookie that has none', async () => {
    expect(await logins.end(settings, cookie)).toMatchObject({ tenantId: 'acme' });
    expect([end.mock.calls.length, publish.mock.calls.length]).toEqual([1, 1]);
    text = undefined;
    expect(await logins.end(settings, cookie)).toBeUndefined();
    expect([end.mock.calls.length, publish.mock.calls.length]).toEqual([1, 1]);
  });

  it('are looked at once while a look runs, however many messages come, and once more after it', async () => {
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
