import { randomBytes } from 'node:crypto';
import { ulid } from 'ulidx';

/** By it, finders of secrets know the texts. */
const PREFIX = 'sk-toolyard-';

export function newKeyText(): string {
  return `${PREFIX}${randomBytes(32).toString('base64url')}`;
}

export function isCreatedKey(token: string): boolean {
  return token.startsWith(PREFIX);
}

/** The id cannot be chosen: one that was known before would bring back what belongs to that key, such as its schedules. */
export function newKeyId(): string {
  return `key-${ulid().toLowerCase()}`;
}

/** Whether the id is that of a key that was made over HTTP, known here or not. */
export function isCreatedKeyId(keyId: string): boolean {
  return /^key-[0-9a-z]{26}$/.test(keyId);
}
