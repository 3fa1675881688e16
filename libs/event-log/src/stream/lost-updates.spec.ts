import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallEvent, EndData } from '#contracts';
import { CallStore, EventLog, isApplied, UpdatesDigest } from '#event-log';
import { createRedis, keys, type RedisConnection } from '#redis';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { aCall, author, endOf } from '../../../../test/support/sample-calls.js';
import { decodeSnapshot, encodeSnapshot } from '../call/call-snapshot.js';

describe('the count of updates of a call', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let log: EventLog;
  beforeAll(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
    log = await EventLog.open(redis, { partitions: 4 });
  });
  afterAll(async () => {
    await log.close();
    redis.disconnect();
    await server.stop();
  });

  const rewrite = async (callId: string, updates: string) => {
    const packed = await redis.getBuffer(keys.call(callId));
    if (packed === null) throw new Error('no snapshot');
    await redis.set(keys.call(callId), encodeSnapshot({ ...decodeSnapshot(callId, packed), updates }));
  };
  const submit = async () => {
    const callId = log.newCallId('acme');
    await log.accept(aCall(callId));
    return callId;
  };
  const claim = async (callId: string, attempt = 1) => {
    const claimed = await log.claim({ callId, attempt, leaseMs: 60_000, worker: 'w', author });
    if (!('updates' in claimed)) throw new Error(`the claim was answered ${claimed.code}`);
    return claimed;
  };
  const endData = async (callId: string): Promise<EndData> => {
    const last = (await new CallStore(redis).events(callId)).at(-1);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an event of this log
    const event = JSON.parse(last?.json ?? 'null') as CallEvent;
    if (event.type !== 'call.end') throw new Error(`the last event is ${event.type}`);
    return event.data;
  };
  const end = (callId: string, fence: number, writeSeq: number) =>
    log.end({ callId, guard: { by: 'worker', fence, writeSeq }, data: endOf('completed'), author });

  it('omits the proof of updates in End if one of them is missing in the log', async () => {
    const callId = await submit();
    const { fence, updates } = await claim(callId);
    const digest = new UpdatesDigest(updates);
    for (const update of [1, 2, 3, 4]) {
      const counted = digest.add('[]');
      // The second update is lost on its way.
      if (update === 2) continue;
      const guard = { by: 'worker' as const, fence, writeSeq: update };
      expect(isApplied(await log.update({ callId, guard, data: { update, content: [] }, updates: counted, author }))).toBe(true);
    }
    expect(isApplied(await end(callId, fence, 5))).toBe(true);
    expect(await endData(callId)).not.toHaveProperty('updates');
  });

  it('continues the count in a later attempt, with concurrent and repeated updates', async () => {
    const callId = await submit();
    const first = await claim(callId);
    let counted = new UpdatesDigest(first.updates).add('[]');
    const once = { callId, guard: { by: 'worker' as const, fence: first.fence, writeSeq: 1 }, data: { update: 1, content: [] }, author };
    await log.update({ ...once, updates: counted });
    await log.update({ ...once, updates: counted });
    const data = { reason: 'worker_drained' as const, nextAttempt: 2, delayMs: 0 };
    await log.retry({ callId, guard: { by: 'worker', fence: first.fence, writeSeq: 2 }, data, countsAsFailure: false, author });
    const { fence, updates } = await claim(callId, 2);
    const digest = new UpdatesDigest(updates);
    await Promise.all(
      [1, 2, 3].map((update) => {
        counted = digest.add('[]');
        const guard = { by: 'worker' as const, fence, writeSeq: update };
        return log.update({ callId, guard, data: { update, content: [] }, updates: counted, author });
      }),
    );
    expect(isApplied(await end(callId, fence, 4))).toBe(true);
    expect((await endData(callId)).updates).toEqual({ count: 4, sha256: counted.split(' ')[1] });
  });

  it('ends a call whose stored count of updates is unreadable', async () => {
    const callId = await submit();
    const { fence } = await claim(callId);
    await rewrite(callId, 'what is this');
    expect(isApplied(await end(callId, fence, 1))).toBe(true);
    expect(await endData(callId)).not.toHaveProperty('updates');
  });
});
