import { describe, expect, it } from '@jest/globals';
import { cookieNames, newSecret, readCookie, setCookie } from './login-cookies.js';

const HTTPS = 'https://tools.example.com';
const LOCAL = 'http://127.0.0.1:7411';

describe('the cookie of a login', () => {
  it('sets the login cookie host-only, hidden from scripts, and Secure if the dashboard has https', () => {
    const { login, begun } = cookieNames(HTTPS);
    expect([login, begun]).toEqual(['__Host-toolyard-login', '__Host-toolyard-login-begun']);
    expect(setCookie(HTTPS, login, 'x', 60_000)).toBe('__Host-toolyard-login=x; Path=/; HttpOnly; SameSite=Strict; Max-Age=60; Secure');
    expect(setCookie(LOCAL, cookieNames(LOCAL).begun, 'x', 1_000, 'Lax')).toBe(
      'toolyard-login-begun=x; Path=/; HttpOnly; SameSite=Lax; Max-Age=1',
    );
  });

  it('reads the cookie of a login by its whole name, once, and only as a secret of ours', () => {
    const { login } = cookieNames(HTTPS);
    const secret = newSecret();
    expect(readCookie(`a=b; ${login}=${secret}; c=d`, login)).toBe(secret);
    for (const header of [
      undefined,
      `toolyard-login=${secret}`,
      `x${login}=${secret}`,
      `${login}=${secret}; ${login}=${secret}`,
      `${login}=${secret}x`,
      `${login}="${secret}"`,
    ])
      expect(readCookie(header, login)).toBeUndefined();
  });
});
