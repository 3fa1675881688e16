import { storeVerified, type ArchiveStore } from '#archive';
import { argumentRefs, decodeSnapshot, toStoredEvent, upcastEvent, type PartitionLog, type StoredEvent } from '#event-log';
import { keys, partitionOf } from '#redis';
import { valueName } from '../archive-names.js';
import type { EndedCall } from '../ended-calls.js';

/** Calls that are read at once. */
const PAGE = 200;

/** The calls that ended in these events of a partition, as Redis has them now; an ended call never changes. Their large values are put into the archive. */
export async function readEndedCalls(log: PartitionLog, store: ArchiveStore, events: readonly StoredEvent[]): Promise<EndedCall[]> {
  const byCall = new Map<string, StoredEvent[]>();
  for (const event of events) byCall.set(event.callId, [...(byCall.get(event.callId) ?? []), event]);
  const ids = events.filter(({ type }) => type === 'call.end').map(({ callId }) => callId);
  const found: EndedCall[] = [];
  for (let at = 0; at < ids.length; at += PAGE) {
    const page = ids.slice(at, at + PAGE);
    found.push(
      ...(await Promise.all(page.map((id) => readEndedCall(log, store, id, byCall.get(id) ?? [])))).filter((call) => call !== undefined),
    );
  }
  return found;
}

async function readEndedCall(
  log: PartitionLog,
  store: ArchiveStore,
  id: string,
  events: readonly StoredEvent[],
): Promise<EndedCall | undefined> {
  const [snapshot, updateIndex] = await log.redis.mgetBuffer(keys.call(id), keys.updateIndex(id));
  if (!snapshot) return undefined;
  const checks = claimChecksOf(await lifecycleOf(log, id, snapshot, events));
  const values = await Promise.all(checks.map(([ref, sha256]) => storeValue(log, store, id, ref, sha256)));
  return { id, snapshot, updateIndex: updateIndex ?? Buffer.alloc(0), values: Object.fromEntries(values.flat()) };
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

/** Empty when Redis has it no more: large values are kept there for some days. */
async function storeValue(
  { redis }: PartitionLog,
  store: ArchiveStore,
  id: string,
  ref: string,
  sha256: string,
): Promise<(readonly [ref: string, sha256: string])[]> {
  const bytes = await redis.getBuffer(keys.blob(id, ref));
  if (bytes === null) return [];
  await storeVerified(store, valueName(sha256), bytes);
  return [[ref, sha256]];
}
