import { openText, sealText } from '#redis';

const PURPOSE = 'toolyard login refresh token';

/** Seals a token with the value of the cookie, which is not stored. */
export function sealToken(token: string, secret: string): string {
  return sealText(token, { secret, purpose: PURPOSE });
}

/** @throws Error for a token sealed with another secret */
export function openToken(sealed: string, secret: string): string {
  return openText(sealed, { secret, purpose: PURPOSE });
}
