import { randomBytes } from 'node:crypto';
import { ulid } from 'ulidx';

/** Prefix by which secret scanners recognise the keys. */
const PREFIX = 'sk-toolyard-';

export function newKeyText(): string {
  return `${PREFIX}${randomBytes(32).toString('base64url')}`;
}

export function isCreatedKey(token: string): boolean {
  return token.startsWith(PREFIX);
}

/** Generated id: a reused one would revive data of the earlier key, such as its schedules. */
export function newKeyId(): string {
  return `key-${ulid().toLowerCase()}`;
}

/** True for the id of a key created over HTTP, known here or not. */
export function isCreatedKeyId(keyId: string): boolean {
  return /^key-[0-9a-z]{26}$/.test(keyId);
}
