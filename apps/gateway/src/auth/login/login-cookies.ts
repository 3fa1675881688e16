import { randomBytes } from 'node:crypto';

/** Value of a cookie: 256 random bits. */
const VALUE = /^[A-Za-z0-9_-]{43}$/;

export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Cookie names: with `__Host-` neither another host nor a page without TLS can set them. */
export function cookieNames(origin: string): { readonly login: string; readonly begun: string } {
  const prefix = isSecure(origin) ? '__Host-' : '';
  return { login: `${prefix}toolyard-login`, begun: `${prefix}toolyard-login-begun` };
}

/** Value of the cookie; undefined if it is absent, malformed, or present twice, since one of the two is forged. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const found = (header ?? '').split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
  const [value] = found;
  return found.length === 1 && value !== undefined && VALUE.test(value) ? value : undefined;
}

/** `Lax` only for cookies that must survive the return from the provider's page. `maxAgeMs` 0 removes the cookie. */
export function setCookie(origin: string, name: string, value: string, maxAgeMs: number, sameSite: 'Strict' | 'Lax' = 'Strict'): string {
  const secure = isSecure(origin) ? '; Secure' : '';
  return `${name}=${value}; Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${Math.floor(maxAgeMs / 1000)}${secure}`;
}

function isSecure(origin: string): boolean {
  return origin.startsWith('https:');
}
