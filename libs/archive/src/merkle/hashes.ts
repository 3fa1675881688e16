import { hash } from 'node:crypto';

export const HASH_BYTES = 32;

const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);

export function sha256(...parts: readonly Uint8Array[]): Buffer {
  return hash('sha256', Buffer.concat(parts), 'buffer');
}

/** Leaf hash of RFC 6962, 2.1: leaves are prefixed by 0x00 and nodes by 0x01, so that neither can pass for the other. */
export function leafHash(data: Uint8Array): Buffer {
  return sha256(LEAF, data);
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return sha256(NODE, left, right);
}

export function emptyRoot(): Buffer {
  return sha256();
}
