import type { CallEvent } from '#contracts';
import { CallStore, decodeSnapshot, PartitionLog, seqOf, toStoredEvent, upcastEvent, FIRST_EPOCH, type LogArchive } from '#event-log';
import { keys, partitionNames, type RedisConnection } from '#redis';
import { checkCall, checkHookRuns, checkUpdates, type CallCheck } from './invariants/check-call.js';
import { checkOpenBytes } from './invariants/check-open-bytes.js';
import { checkTenants } from './invariants/check-tenants.js';

export { checkCall } from './invariants/check-call.js';

export interface InvariantOptions extends CallCheck {
  /** Texts that must not be in the log (I16). */
  readonly secrets?: readonly string[];
  /** Archive of events and calls that have left Redis. */
  readonly archive?: LogArchive | undefined;
}

/** All that a log holds about calls. */
export interface FullLog {
  /** Oldest first within a call. */
  readonly calls: ReadonlyMap<string, readonly CallEvent[]>;
  /** Events by partition and sequence number: `<partition>.<seq>`. */
  readonly events: ReadonlyMap<string, CallEvent>;
  readonly violations: readonly string[];
}

/**
 * Reads the whole log and returns what is wrong with it, one sentence a violation, none when all is well.
 * Checked: I2 one End, and last (missing Ends only at rest); I3 and I15 ends in time, where it is known when no app could
 * end calls; I4 legal paths, `callver` and `seq` without holes; I5 attempts and fences; I6 no event of a fenced-off worker;
 * I7 no second run of what acts once; I8 one call for each idempotency key; I9 timers are exactly the calls that have not
 * ended; I11 approvals; I12 calls that name each other are of one tenant; I16 no secrets; besides, heads agree with the log,
 * sums of open calls with the heads, and those with the values beside the log, Ends with the updates, and hook runs with their place in the call. What clients saw
 * (I1, I10, I12) is `client-histories.ts`, the archive (I14) is `check-archive.ts`: `TestCluster.close` and `cleanUp` of standalone check
 * them as well, `TestGateway.close` the calls that clients got. Rows of the history (I13) are compared by
 * test/faults/projector.spec.ts and `npm run soak -- history`; whether processes are gone (I15) by the tests about those.
 */
export async function checkInvariants(redis: RedisConnection, partitions: number, options: InvariantOptions = {}): Promise<string[]> {
  return [...(await readFullLog(redis, partitions, options)).violations];
}

export async function checkPartition(redis: RedisConnection, partition: string, atRest = false): Promise<string[]> {
  return [...(await readPartition(redis, partition, { atRest })).violations];
}

export async function readFullLog(redis: RedisConnection, partitions: number, options: InvariantOptions = {}): Promise<FullLog> {
  const names = partitionNames(partitions);
  const read = await Promise.all(names.map((name) => readPartition(redis, name, options)));
  const calls = new Map(read.flatMap((part) => [...part.calls]));
  return {
    calls,
    events: new Map(read.flatMap((part) => [...part.events])),
    violations: [
      ...read.flatMap(({ violations }) => violations),
      ...checkKeys(calls),
      ...checkTenants(calls),
      ...[...calls].flatMap(([callId, events]) => [
        ...checkUpdates(callId, events, options.atRest === true),
        ...checkHookRuns(callId, events),
      ]),
    ],
  };
}

async function readPartition(redis: RedisConnection, partition: string, options: InvariantOptions): Promise<FullLog> {
  const entries = await new PartitionLog(redis, options.archive).range(partition, 1, Number.MAX_SAFE_INTEGER);
  const violations: string[] = [];
  const calls = new Map<string, CallEvent[]>();
  const events = new Map<string, CallEvent>();
  let expected = entries[0] ? seqOf(entries[0][0]) : 1;
  for (const [entryId, fields] of entries) {
    const seq = seqOf(entryId);
    if (seq !== expected) violations.push(`I4 partition ${partition}: seq ${entryId} follows ${expected - 1}`);
    expected = seq + 1;
    for (const secret of options.secrets ?? [])
      if (fields.some((field) => field.includes(secret))) violations.push(`I16 partition ${partition}: seq ${entryId} holds a secret`);
    const stored = toStoredEvent(partition, FIRST_EPOCH, entryId, fields);
    if (!stored) continue;
    const event = upcastEvent(stored.json);
    events.set(`${Number(partition)}.${seq}`, event);
    const ofCall = calls.get(stored.callId) ?? [];
    calls.set(stored.callId, ofCall);
    ofCall.push(event);
  }
  const last = Number((await redis.get(keys.seq(partition))) ?? 0);
  if (last !== expected - 1) violations.push(`I4 partition ${partition}: seq says ${last}, the log ends at ${expected - 1}`);
  for (const [callId, ofCall] of calls) violations.push(...checkCall(callId, ofCall, options));
  return { calls, events, violations: [...violations, ...(await checkHeads(redis, partition, calls, options.archive))] };
}

/** I8: a key names one call in its tenant and session. One that was refused does not hold its key: the next may pass. */
function checkKeys(calls: ReadonlyMap<string, readonly CallEvent[]>): string[] {
  const holders = new Map<string, string>();
  return [...calls].flatMap(([callId, [first, ...others]]) => {
    const second = others.find(({ type }) => type !== 'call.hook');
    if (second?.type === 'call.end' || first?.type !== 'call.submitted' || first.data.idempotencyKey === undefined) return [];
    const key = JSON.stringify([first.tenantid, first.sessionid, first.data.idempotencyKey]);
    const holder = holders.get(key);
    holders.set(key, callId);
    return holder === undefined ? [] : [`I8 ${callId}: has the idempotency key of ${holder}`];
  });
}

function isWaiting(events: readonly CallEvent[]): boolean {
  const last = events.findLast(({ type }) => type !== 'call.hook')?.type;
  return last === 'call.approval_requested';
}

async function checkHeads(
  redis: RedisConnection,
  partition: string,
  calls: ReadonlyMap<string, readonly CallEvent[]>,
  archive?: LogArchive,
): Promise<string[]> {
  const violations: string[] = [];
  const store = new CallStore(redis, archive);
  const timers = new Set(await redis.zrange(keys.outbox(partition), '0', '-1'));
  const pending = await redis.zrange(keys.pendingApprovals(partition), '0', '-1');
  const waiting = [...calls].flatMap(([callId, events]) => (isWaiting(events) ? [callId] : []));
  if (pending.sort().join() !== waiting.sort().join())
    violations.push(`pending approvals of partition ${partition}: ${pending.join()}; the log says ${waiting.join()}`);
  const openBytes = new Map<string, number>();
  for (const callId of timers) if (!calls.has(callId)) violations.push(`I9 ${callId}: has a timer and no events`);
  for (const [callId, events] of calls) {
    const ended = events.at(-1)?.type === 'call.end';
    if (ended === timers.has(callId))
      violations.push(`I9 ${callId}: ${ended ? 'has ended and still has a timer' : 'has not ended and has no timer'}`);
    const packed = (await redis.getBuffer(keys.call(callId))) ?? (await archive?.call(callId))?.snapshot;
    const head = !packed ? undefined : decodeSnapshot(callId, packed);
    if (head) openBytes.set(head.meta.tenantId, (openBytes.get(head.meta.tenantId) ?? 0) + head.openBytes);
    if (head?.version !== events.at(-1)?.callver)
      violations.push(`head of ${callId}: version ${head?.version}, the log says ${events.at(-1)?.callver}`);
    if (head) violations.push(...checkOpenBytes(callId, head, events));
    if ((head?.status === 'ended') !== ended)
      violations.push(`head of ${callId}: ${head?.status}, the log ${ended ? 'has' : 'has no'} End`);
    const read = (await store.events(callId)).map(({ json }) => upcastEvent(json).callver);
    if (read.join() !== events.map(({ callver }) => callver).join())
      violations.push(`events of ${callId}: a reader of the call gets versions ${read.join()}`);
  }
  for (const [tenantId, bytes] of openBytes) {
    const sum = Number((await redis.get(keys.openBytes(partition, tenantId))) ?? 0);
    if (sum !== bytes)
      violations.push(`open calls of ${tenantId} in partition ${partition}: ${sum} bytes are counted, their heads say ${bytes}`);
  }
  return violations;
}
