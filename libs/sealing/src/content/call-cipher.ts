import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts the content of one call: nonce, tag, then AES-256-GCM. The nonce is an HMAC of place and text, so that two processes
 * that archive the same event write the same bytes, and no nonce serves two texts. `place` identifies the text within the call
 * and is authenticated with it.
 */
export class CallCipher {
  private readonly key: Buffer;
  private readonly nonceKey: Buffer;

  /** @param key 32 random bytes */
  constructor(key: Buffer) {
    const derived = Buffer.from(hkdfSync('sha256', key, '', 'toolyard call content', 2 * KEY_BYTES));
    this.key = derived.subarray(0, KEY_BYTES);
    this.nonceKey = derived.subarray(KEY_BYTES);
  }

  encrypt(place: string, plain: Uint8Array): Buffer {
    const nonce = createHmac('sha256', this.nonceKey).update(`${place}\n`).update(plain).digest().subarray(0, NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.key, nonce).setAAD(Buffer.from(place));
    const encrypted = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
  }

  /** @throws Error for any text that was not encrypted with this key at this place */
  decrypt(place: string, sealed: Buffer): Buffer {
    const [nonce, tag] = [sealed.subarray(0, NONCE_BYTES), sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)];
    const decipher = createDecipheriv(ALGORITHM, this.key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(place)).setAuthTag(tag);
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  }
}
