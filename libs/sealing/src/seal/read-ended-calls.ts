import { createHash } from 'node:crypto';
import { storeVerified, type ArchiveStore, type Manifest } from '#archive';
import { argumentRefs, decodeSnapshot, encodeSnapshot, toStoredEvent, upcastEvent, type PartitionLog, type StoredEvent } from '#event-log';
import { keys, partitionOf } from '#redis';
import { valueName } from '../archive-names.js';
import type { SegmentContent } from '../content/segment-content.js';
import type { EndedCall } from '../ended-calls.js';

/** Calls in one read. */
const PAGE = 200;

/** Call that ended in a segment. */
export interface SealedCall extends EndedCall {
  /** Lifecycle events in earlier segments, oldest first. */
  readonly earlierSeqs: readonly number[];
}

/** Segment in which the calls ended, and the encryption of their content. */
export interface EndedCallsPlace {
  readonly log: PartitionLog;
  readonly store: ArchiveStore;
  readonly content: SegmentContent;
  readonly segment: Pick<Manifest, 'file' | 'fromSeq'>;
}

/** Reads the calls that ended in these events of a partition, and stores their large values in the archive. An ended call never changes. */
export async function readEndedCalls(place: EndedCallsPlace, events: readonly StoredEvent[]): Promise<SealedCall[]> {
  const byCall = new Map<string, StoredEvent[]>();
  for (const event of events) {
    const callEvents = byCall.get(event.callId);
    if (callEvents === undefined) byCall.set(event.callId, [event]);
    else callEvents.push(event);
  }
  const ids = events.filter(({ type }) => type === 'call.end').map(({ callId }) => callId);
  const found: SealedCall[] = [];
  for (let at = 0; at < ids.length; at += PAGE) {
    const page = ids.slice(at, at + PAGE);
    const stored = await place.log.redis.mgetBuffer(page.flatMap((id) => [keys.call(id), keys.updateIndex(id)]));
    const calls = page.map((id, n) =>
      readEndedCall(place, { id, snapshot: stored[2 * n], updateIndex: stored[2 * n + 1] }, byCall.get(id)),
    );
    found.push(...(await Promise.all(calls)).filter((call) => call !== undefined));
  }
  return found;
}

/** Keys of a call in Redis. */
interface StoredCall {
  readonly id: string;
  readonly snapshot: Buffer | null | undefined;
  readonly updateIndex: Buffer | null | undefined;
}

async function readEndedCall(
  place: EndedCallsPlace,
  { id, snapshot, updateIndex }: StoredCall,
  events: readonly StoredEvent[] = [],
): Promise<SealedCall | undefined> {
  const { log, content, segment } = place;
  if (!snapshot) return undefined;
  // Most calls begin in the segment in which they end: their snapshots are copied unread.
  const isWhole = events[0]?.type === 'call.submitted';
  const seqs = isWhole ? [] : decodeSnapshot(id, snapshot).lifecycleSeqs;
  const checks = claimChecksOf(isWhole ? events : await readEvents(log, id, seqs));
  const values = await Promise.all(checks.map(([ref, sha256]) => storeValue(place, id, ref, sha256)));
  const call = {
    id,
    snapshot,
    updateIndex: updateIndex ?? Buffer.alloc(0),
    values: Object.fromEntries(values.flat()),
    earlierSeqs: seqs.filter((seq) => seq < segment.fromSeq),
  };
  return content.cipherOf(id) === undefined ? call : { ...call, snapshot: withoutDigests(id, snapshot), encrypted: true };
}

/** Removes digests, by which content could be guessed and which an ended call does not need. */
function withoutDigests(id: string, snapshot: Buffer): Buffer {
  const state = decodeSnapshot(id, snapshot);
  return encodeSnapshot({ ...state, options: { ...state.options, digest: '-' }, updates: '', suspension: '', openBytes: 0, stateBytes: 0 });
}

async function readEvents(log: PartitionLog, callId: string, seqs: readonly number[]): Promise<StoredEvent[]> {
  const partition = partitionOf(callId);
  const entries = await log.entries(partition, seqs);
  return entries.flatMap(([entryId, fields]) => toStoredEvent(partition, 1, entryId, fields) ?? []);
}

/** Types of events that refer to large values for readers. */
const NAMING: ReadonlySet<string> = new Set(['call.submitted', 'call.approval_decided', 'call.end']);
const REFERENCE = /"(argumentsRef|resultRef|output)":\{/;

/** Names and digests of the large values for readers of the call. Values for its worker were deleted with the End. */
function claimChecksOf(events: readonly StoredEvent[]): (readonly [ref: string, sha256: string])[] {
  // Parses only events with a reference, which are few.
  const named = events.filter(({ type, json }) => NAMING.has(type) && REFERENCE.test(json)).map(({ json }) => upcastEvent(json));
  return named.flatMap(({ type, data }) => {
    if (type === 'call.submitted') return data.argumentsRef ? [['arguments', data.argumentsRef.sha256] as const] : [];
    if (type === 'call.approval_decided') {
      const { edited } = data;
      return edited?.argumentsRef ? [[argumentRefs({ ...edited, argumentsEdited: true }).shown, edited.argumentsRef.sha256] as const] : [];
    }
    if (type !== 'call.end') return [];
    const { resultRef, output } = data;
    return [...(resultRef ? [['result', resultRef.sha256] as const] : []), ...(output ? [['output', output.sha256] as const] : [])];
  });
}

/** Stores a value; empty for an erased call, and for a value that Redis has already expired. */
async function storeValue(
  { log: { redis }, store, content, segment }: EndedCallsPlace,
  id: string,
  ref: string,
  sha256: string,
): Promise<(readonly [ref: string, sha256: string])[]> {
  const cipher = content.cipherOf(id);
  const bytes = cipher === null ? null : await redis.getBuffer(keys.blob(id, ref));
  if (bytes === null) return [];
  const archived = cipher === undefined ? bytes : (cipher?.encrypt(`${id}/${ref}`, bytes) ?? bytes);
  const digest = cipher === undefined ? sha256 : createHash('sha256').update(archived).digest('hex');
  await storeVerified(store, valueName(segment, digest), archived);
  return [[ref, digest]];
}
