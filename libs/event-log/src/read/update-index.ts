import type { CallSnapshot } from '../event-log.port.js';

/** Bytes of an entry: the low 24 bits of a sequence number, little-endian, as apply-transitions.lua appends them. */
const ENTRY_BYTES = 3;
const MODULUS = 2 ** (8 * ENTRY_BYTES);

/**
 * The sequence numbers of all events of a call, oldest first: those of its lifecycle from the snapshot, those of Updates,
 * Progress and hook runs from its update index.
 *
 * Returns undefined if snapshot and index lack an event because keys were lost. A gap of 2^24 events between two Updates is
 * read wrongly; the reader detects it by the versions of the events.
 */
export function eventSeqs({ version, lifecycleSeqs, lastSeq }: CallSnapshot, index: Buffer): readonly number[] | undefined {
  if (index.length % ENTRY_BYTES !== 0 || lifecycleSeqs.length + index.length / ENTRY_BYTES !== version) return undefined;
  const seqs = [...lifecycleSeqs];
  let seq = lifecycleSeqs[0] ?? 0;
  for (let at = 0; at < index.length; at += ENTRY_BYTES) {
    const low = index.readUIntLE(at, ENTRY_BYTES);
    seq += (low - (seq % MODULUS) + MODULUS) % MODULUS || MODULUS;
    seqs.push(seq);
  }
  seqs.sort((a, b) => a - b);
  return seqs.at(-1) === lastSeq ? seqs : undefined;
}
