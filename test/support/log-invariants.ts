import type { CallEvent } from '#contracts';
import { decodeHead, seqOf, toStoredEvent, upcastEvent, FIRST_EPOCH } from '#event-log';
import { keys, partitionName, type RedisConnection } from '#redis';

type Status = 'none' | 'waiting_approval' | 'queued' | 'running' | 'ended';

/** Table 3 of the log's design: what may follow in which state, and where it leads. */
const LEGAL: Readonly<Record<Status, Partial<Record<CallEvent['type'], Status>>>> = {
  none: { 'call.submitted': 'queued' },
  queued: { 'call.approval_requested': 'waiting_approval', 'call.start': 'running', 'call.end': 'ended' },
  waiting_approval: { 'call.approval_decided': 'queued', 'call.end': 'ended' },
  running: {
    'call.update': 'running',
    'call.progress': 'running',
    'call.cancel_requested': 'running',
    'call.retry': 'queued',
    'call.end': 'ended',
  },
  ended: {},
};

export interface InvariantOptions {
  /** Nothing is under way any more: every call must have its End. */
  readonly atRest?: boolean;
}

/**
 * Reads the whole log and returns what is wrong with it, one sentence a violation, none when all is well.
 * Checked: I2 one End, and last (missing Ends only at rest); I4 legal paths, `callver` and `seq` without holes;
 * I5 attempts and fences; I6 no event of a fenced-off worker; I9 timers are exactly the calls that have not ended;
 * besides, heads agree with the log.
 */
export async function checkInvariants(
  redis: RedisConnection,
  partitions: number,
  { atRest = false }: InvariantOptions = {},
): Promise<string[]> {
  const names = Array.from({ length: partitions }, (_, index) => partitionName(index));
  const found = await Promise.all(names.map((name) => checkPartition(redis, name, atRest)));
  return found.flat();
}

export async function checkPartition(redis: RedisConnection, partition: string, atRest = false): Promise<string[]> {
  const entries = await redis.xrange(keys.log(partition), '-', '+');
  const violations: string[] = [];
  const calls = new Map<string, CallEvent[]>();
  let expected = entries[0] ? seqOf(entries[0][0]) : 1;
  for (const [entryId, fields] of entries) {
    if (seqOf(entryId) !== expected) violations.push(`I4 partition ${partition}: seq ${entryId} follows ${expected - 1}`);
    expected = seqOf(entryId) + 1;
    const stored = toStoredEvent(partition, FIRST_EPOCH, entryId, fields);
    if (!stored) continue;
    const events = calls.get(stored.callId) ?? [];
    calls.set(stored.callId, events);
    events.push(upcastEvent(stored.json));
  }
  const last = Number((await redis.get(keys.seq(partition))) ?? 0);
  if (last !== expected - 1) violations.push(`I4 partition ${partition}: seq says ${last}, the log ends at ${expected - 1}`);
  for (const [callId, events] of calls) violations.push(...checkCall(callId, events, atRest));
  return [...violations, ...(await checkHeads(redis, partition, calls))];
}

/** The events of one call, oldest first. */
export function checkCall(callId: string, events: readonly CallEvent[], atRest: boolean): string[] {
  const violations: string[] = [];
  let status: Status = 'none';
  let attempt = 0;
  let fence = 0;
  for (const [index, event] of events.entries()) {
    const at = `${callId} event ${index + 1} ${event.type}`;
    const next: Status | undefined = LEGAL[status][event.type];
    if (next === undefined) violations.push(status === 'ended' ? `I2 ${at}: after End` : `I4 ${at}: not legal in ${status}`);
    if (event.callver !== index + 1) violations.push(`I4 ${at}: callver ${event.callver}, expected ${index + 1}`);
    if (event.fence > 0 && event.fence < fence) violations.push(`I6 ${at}: fence ${event.fence} after ${fence}`);
    if (event.type === 'call.start') {
      if (event.attempt !== attempt + 1) violations.push(`I5 ${at}: attempt ${event.attempt} after ${attempt}`);
      if (event.fence <= fence) violations.push(`I5 ${at}: fence ${event.fence} does not rise above ${fence}`);
      attempt = event.attempt;
      fence = event.fence;
    } else {
      if (event.fence > 0 && event.fence !== fence) violations.push(`I5 ${at}: fence ${event.fence}, the Start before has ${fence}`);
      if (event.attempt !== attempt) violations.push(`I5 ${at}: attempt ${event.attempt}, the Start before has ${attempt}`);
    }
    status = next ?? status;
  }
  if (atRest && status !== 'ended') violations.push(`I2 ${callId}: no End; it is ${status}`);
  return violations;
}

async function checkHeads(redis: RedisConnection, partition: string, calls: ReadonlyMap<string, readonly CallEvent[]>): Promise<string[]> {
  const violations: string[] = [];
  const timers = new Set(await redis.zrange(keys.timers(partition), '0', '-1'));
  for (const callId of timers) if (!calls.has(callId)) violations.push(`I9 ${callId}: has a timer and no events`);
  for (const [callId, events] of calls) {
    const ended = events.at(-1)?.type === 'call.end';
    if (ended === timers.has(callId))
      violations.push(`I9 ${callId}: ${ended ? 'has ended and still has a timer' : 'has not ended and has no timer'}`);
    const packed = await redis.getBuffer(keys.call(callId));
    const head = packed === null ? undefined : decodeHead(callId, packed);
    if (head?.version !== events.at(-1)?.callver)
      violations.push(`head of ${callId}: version ${head?.version}, the log says ${events.at(-1)?.callver}`);
    if ((head?.status === 'ended') !== ended)
      violations.push(`head of ${callId}: ${head?.status}, the log ${ended ? 'has' : 'has no'} End`);
  }
  return violations;
}
