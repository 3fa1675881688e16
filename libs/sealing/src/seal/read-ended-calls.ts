import { createHash } from 'node:crypto';
import { storeVerified, type ArchiveStore, type Manifest } from '#archive';
import { argumentRefs, decodeSnapshot, encodeSnapshot, toStoredEvent, upcastEvent, type PartitionLog, type StoredEvent } from '#event-log';
import { keys, partitionOf } from '#redis';
import { valueName } from '../archive-names.js';
import type { SegmentContent } from '../content/segment-content.js';
import type { EndedCall } from '../ended-calls.js';

/** Calls that are read at once. */
const PAGE = 200;

/** The segment that the calls ended in, and how their content is archived. */
export interface EndedCallsPlace {
  readonly log: PartitionLog;
  readonly store: ArchiveStore;
  readonly content: SegmentContent;
  readonly segment: Pick<Manifest, 'file'>;
}

/** The calls that ended in these events of a partition, as Redis has them now; an ended call never changes. Their large values are put into the archive. */
export async function readEndedCalls(place: EndedCallsPlace, events: readonly StoredEvent[]): Promise<EndedCall[]> {
  const byCall = new Map<string, StoredEvent[]>();
  for (const event of events) {
    const known = byCall.get(event.callId);
    if (known === undefined) byCall.set(event.callId, [event]);
    else known.push(event);
  }
  const ids = events.filter(({ type }) => type === 'call.end').map(({ callId }) => callId);
  const found: EndedCall[] = [];
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

/** What Redis has of a call. */
interface StoredCall {
  readonly id: string;
  readonly snapshot: Buffer | null | undefined;
  readonly updateIndex: Buffer | null | undefined;
}

async function readEndedCall(
  place: EndedCallsPlace,
  { id, snapshot, updateIndex }: StoredCall,
  events: readonly StoredEvent[] = [],
): Promise<EndedCall | undefined> {
  const { log, content } = place;
  if (!snapshot) return undefined;
  const checks = claimChecksOf(await lifecycleOf(log, id, snapshot, events));
  const values = await Promise.all(checks.map(([ref, sha256]) => storeValue(place, id, ref, sha256)));
  const call = { id, snapshot, updateIndex: updateIndex ?? Buffer.alloc(0), values: Object.fromEntries(values.flat()) };
  return content.cipherOf(id) === undefined ? call : { ...call, snapshot: withoutDigests(id, snapshot), encrypted: true };
}

/** Digests would let content be guessed; an ended call has no use for them. */
function withoutDigests(id: string, snapshot: Buffer): Buffer {
  const state = decodeSnapshot(id, snapshot);
  return encodeSnapshot({ ...state, options: { ...state.options, digest: '-' }, updates: '', suspension: '', openBytes: 0, stateBytes: 0 });
}

/** Those at hand; those of a call that was submitted before this segment are read. */
async function lifecycleOf(
  log: PartitionLog,
  id: string,
  snapshot: Buffer,
  events: readonly StoredEvent[],
): Promise<readonly StoredEvent[]> {
  if (events[0]?.type === 'call.submitted') return events;
  const partition = partitionOf(id);
  const entries = await log.entries(partition, decodeSnapshot(id, snapshot).lifecycleSeqs);
  return entries.flatMap(([entryId, fields]) => toStoredEvent(partition, 1, entryId, fields) ?? []);
}

/** Names and digests of the large values that readers of the call ask for. What only its worker needed is gone with the call. */
function claimChecksOf(events: readonly StoredEvent[]): (readonly [ref: string, sha256: string])[] {
  // Few events have one: the others are not parsed.
  const named = events.filter(({ json }) => /"(argumentsRef|resultRef|output)":\{/.test(json)).map(({ json }) => upcastEvent(json));
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

/** Empty when Redis has it no more, where large values are kept for some days, and for an erased call. */
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
