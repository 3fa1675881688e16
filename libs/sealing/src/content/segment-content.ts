import type { SealedEvent } from '#archive';
import type { StoredEvent } from '#event-log';
import { SealingFault } from '../sealing-fault.js';
import { CallCipher } from './call-cipher.js';
import type { ContentKeys } from './content-keys.port.js';
import { encryptEvent } from './event-content.js';

/** Encryption of the calls of one segment. */
export class SegmentContent {
  /** @param ciphers null: the call was erased; no entry: its content is not encrypted */
  constructor(private readonly ciphers: ReadonlyMap<string, CallCipher | null>) {}

  cipherOf(callId: string): CallCipher | null | undefined {
    return this.ciphers.get(callId);
  }

  /** Archived form of an event. */
  archived({ seq, time, callId, json }: StoredEvent): SealedEvent {
    const cipher = this.ciphers.get(callId);
    return { seq, time, json: cipher === undefined ? json : encryptEvent(json, cipher) };
  }
}

export const PLAIN_CONTENT = new SegmentContent(new Map());

/**
 * Opens the keys for the events of a segment. A call of `tenants` gets a key with its submission, which encrypts all of its
 * events, even in later segments and after a change of the tenant's setting. Keys are stored on return.
 *
 * @throws SealingFault without a store of keys
 */
export async function openContent(
  keys: ContentKeys | undefined,
  events: readonly StoredEvent[],
  tenants: readonly string[],
): Promise<SegmentContent> {
  if (keys === undefined)
    throw new SealingFault('calls of this partition are encrypted in the archive, and their keys are in the database: set DATABASE_URL');
  const submitted = events.filter(({ type, meta }) => type === 'call.submitted' && tenants.includes(meta.tenantId));
  if (submitted.length > 0) await keys.make(submitted.map(({ callId, meta }) => ({ callId, tenantId: meta.tenantId })));
  const found = await keys.read([...new Set(events.map(({ callId }) => callId))]);
  return new SegmentContent(new Map([...found].map(([callId, key]) => [callId, key && new CallCipher(key)])));
}
