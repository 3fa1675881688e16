import { z } from 'zod';
import { upcastEvent, withoutContent } from '#event-log';
import type { CallCipher } from './call-cipher.js';

/** Member of an archived envelope with the whole original event, encrypted, in base64. */
const SEALED = 'sealed';
/** Text of that member. Quotes are escaped within JSON strings: no text of people contains the mark, but an object may. */
const MARK = `"${SEALED}":"`;

const SealedEnvelope = z.looseObject({ id: z.string(), subject: z.string(), [SEALED]: z.base64() });

/** Archived form of the envelope: with encrypted content, or with `null` without content. */
export function encryptEvent(json: string, cipher: CallCipher | null): string {
  const event = upcastEvent(json);
  const structure = withoutContent(event);
  if (cipher === null) return JSON.stringify(structure);
  return JSON.stringify({ ...structure, [SEALED]: cipher.encrypt(event.id, Buffer.from(json)).toString('base64') });
}

/** Archived event with encrypted content. */
export interface EncryptedEvent {
  readonly callId: string;
  /** Decrypts the original event. @throws Error for another key */
  decrypt(cipher: CallCipher): string;
  /** Rest of the event without the key. */
  readonly erased: string;
}

/** Undefined for an event without encryption. */
export function encryptedEventOf(json: string): EncryptedEvent | undefined {
  if (!json.includes(MARK)) return undefined;
  const parsed = SealedEnvelope.safeParse(JSON.parse(json));
  if (!parsed.success) return undefined;
  const { [SEALED]: sealed, ...erased } = parsed.data;
  const decrypt = (cipher: CallCipher) => cipher.decrypt(erased.id, Buffer.from(sealed, 'base64')).toString();
  return { callId: erased.subject, decrypt, erased: JSON.stringify(erased) };
}
