import { randomBytes } from 'node:crypto';

/** The name of a file that is being written, beside the one that it replaces. */
export function temporaryName(): string {
  return `.toolyard-${randomBytes(9).toString('base64url')}.tmp`;
}

/** True for a file that is still being written: excluded from lists and suggestions. */
export function isTemporary(name: string): boolean {
  return /^\.toolyard-.*\.tmp$/.test(name);
}
