import { hash } from 'node:crypto';

export const HASH_BYTES = 32;

const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);

/** Room for the parts of one hash; a new buffer for each would take longer than hashing an event. */
const joined = Buffer.allocUnsafe(16_384);

export function sha256(...parts: readonly Uint8Array[]): Buffer {
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  if (bytes > joined.length) return digestOf(Buffer.concat(parts));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return digestOf(joined.subarray(0, bytes));
}

/** Converts from text: `hash` takes twice as long to return a buffer. */
function digestOf(data: Uint8Array): Buffer {
  return Buffer.from(hash('sha256', data, 'hex'), 'hex');
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
