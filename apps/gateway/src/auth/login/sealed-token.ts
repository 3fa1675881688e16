import { openText, sealText } from '#redis';

const PURPOSE = 'toolyard login refresh token';

/** Sealed with what only the cookie holds. */
export function sealToken(token: string, secret: string): string {
  return sealText(token, { secret, purpose: PURPOSE });
}

/** @throws Error for what was not sealed with this secret */
export function openToken(sealed: string, secret: string): string {
  return openText(sealed, { secret, purpose: PURPOSE });
}
