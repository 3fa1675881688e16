import { hash } from 'node:crypto';

/** The digest by which keys and stored values are named. It is here since keys are made with it, and all that name values see this library. */
export function sha256Hex(text: string | Uint8Array): string {
  return hash('sha256', text);
}
