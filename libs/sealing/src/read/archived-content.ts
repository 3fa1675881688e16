import type { ArchivedEvent } from '#event-log';
import { CallCipher } from '../content/call-cipher.js';
import type { ContentKeys } from '../content/content-keys.port.js';
import { encryptedEventOf } from '../content/event-content.js';

/** Decrypts content of the archive. Reads keys each time, so that after an erasure no process has one in memory. */
export class ArchivedContent {
  constructor(private readonly keys: Pick<ContentKeys, 'read'> | undefined) {}

  /** Original events, or the rest of those of erased calls. Rejects if the keys cannot be read. */
  async readable(events: readonly ArchivedEvent[]): Promise<readonly ArchivedEvent[]> {
    const found = events.map((event) => ({ event, encrypted: encryptedEventOf(event.json) }));
    const callIds = new Set(found.flatMap(({ encrypted }) => encrypted?.callId ?? []));
    if (callIds.size === 0) return events;
    const ciphers = await this.ciphersOf([...callIds]);
    return found.map(({ event, encrypted }) => {
      if (encrypted === undefined) return event;
      const cipher = ciphers.get(encrypted.callId);
      return { seq: event.seq, json: cipher === undefined ? encrypted.erased : encrypted.decrypt(cipher) };
    });
  }

  /** Original large value. Undefined for an erased call. */
  async value(callId: string, ref: string, archived: Buffer, isEncrypted: boolean): Promise<Buffer | undefined> {
    if (!isEncrypted) return archived;
    return (await this.ciphersOf([callId])).get(callId)?.decrypt(`${callId}/${ref}`, archived);
  }

  /** Ciphers of the calls, without erased ones. */
  private async ciphersOf(callIds: readonly string[]): Promise<ReadonlyMap<string, CallCipher>> {
    if (this.keys === undefined)
      throw new Error(`The content of call ${callIds[0]} is encrypted in the archive, and its key is in the database: set DATABASE_URL.`);
    const keys = await this.keys.read(callIds);
    return new Map([...keys].flatMap(([callId, key]) => (key === null ? [] : [[callId, new CallCipher(key)] as const])));
  }
}
