import { z } from 'zod';
import { upcastEvent, withoutContent } from '#event-log';
import type { CallCipher } from './call-cipher.js';

/** The member of an archived envelope that holds the whole event as it was, encrypted, in base64. */
const SEALED = 'sealed';
/** Inside of a JSON string the quotes would be escaped: no text that people write has this, though an object may. */
const MARK = `"${SEALED}":"`;

const SealedEnvelope = z.looseObject({ id: z.string(), subject: z.string(), [SEALED]: z.base64() });

/** The envelope as it is archived: its content only encrypted, or with `null` not at all. */
export function encryptEvent(json: string, cipher: CallCipher | null): string {
  const event = upcastEvent(json);
  const structure = withoutContent(event);
  if (cipher === null) return JSON.stringify(structure);
  return JSON.stringify({ ...structure, [SEALED]: cipher.encrypt(event.id, Buffer.from(json)).toString('base64') });
}

/** An archived event whose content is encrypted. */
export interface EncryptedEvent {
  readonly callId: string;
  /** As it was before it was archived. @throws Error for another key */
  decrypt(cipher: CallCipher): string;
  /** What is left of it without the key. */
  readonly erased: string;
}

/** Undefined for an event that anyone can read. */
export function encryptedEventOf(json: string): EncryptedEvent | undefined {
  if (!json.includes(MARK)) return undefined;
  const parsed = SealedEnvelope.safeParse(JSON.parse(json));
  if (!parsed.success) return undefined;
  const { [SEALED]: sealed, ...erased } = parsed.data;
  const decrypt = (cipher: CallCipher) => cipher.decrypt(erased.id, Buffer.from(sealed, 'base64')).toString();
  return { callId: erased.subject, decrypt, erased: JSON.stringify(erased) };
}
