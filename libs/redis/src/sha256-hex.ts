import { hash } from 'node:crypto';

/** Digest in names of keys and stored values. Part of this library since keys contain it. */
export function sha256Hex(text: string | Uint8Array): string {
  return hash('sha256', text);
}
