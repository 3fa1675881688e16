import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { BlobStore, EventLog, EventLogTenantFull } from '#event-log';
import { createRedis, keys, type RedisConnection } from '#redis';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { aCall, author, endOf } from '../../../test/support/sample-calls.js';

const ROOM = 6_000;

describe('open calls of a tenant', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let log: EventLog;
  beforeAll(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
  });
  beforeEach(async () => {
    await redis.flushall();
    log = await EventLog.open(redis, { partitions: 1, tenantCallBytes: ROOM });
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  const newId = () => log.newCallId('acme', 's');
  const accept = (callId: string, tenantId = 'acme') => log.accept(aCall(callId, { meta: { tenantId, tool: 'echo' } }));
  /** Accepts calls until one is rejected. */
  const fill = async (): Promise<string[]> => {
    const accepted: string[] = [];
    for (;;) {
      const callId = newId();
      const isTaken = await accept(callId).then(
        () => true,
        (error: unknown) => expect(error).toBeInstanceOf(EventLogTenantFull),
      );
      if (isTaken !== true) return accepted;
      accepted.push(callId);
    }
  };
  const counted = async () => Number(await redis.get(keys.openBytes('00', 'acme')));
  const end = (callId: string, version = 1) =>
    log.end({ callId, guard: { by: 'command', version, commandId: 'c' }, data: endOf('cancelled'), author });

  it('refuses a call beyond the bytes of its tenant, accepts those of others, and accepts one again after an End', async () => {
    const [first = '', ...others] = await fill();
    expect(others.length).toBeGreaterThan(0);
    expect(await accept(newId(), 'other')).toMatchObject({ code: 'OK' });
    // A repeated accept adds no call.
    expect(await accept(first)).toMatchObject({ code: 'REPLAY' });
    await end(first);
    expect(await accept(newId())).toMatchObject({ code: 'OK' });
    expect(await fill()).toEqual([]);
  });

  it('counts no ended calls, for any outcome', async () => {
    const [first = '', second = '', third = '', ...others] = await fill();
    await end(first);
    await log.claim({ callId: second, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    await log.end({ callId: second, guard: { by: 'worker', fence: 1, writeSeq: 1 }, data: endOf('completed'), author });
    // Concurrent, and therefore in one run of the script.
    await Promise.all([third, ...others].map((callId) => end(callId)));
    expect(await counted()).toBe(0);
  });

  it('counts the events of a call until it ends', async () => {
    const callId = newId();
    await accept(callId);
    const before = await counted();
    await log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    const [, , , , , start = ''] = (await redis.xrevrange(keys.log('00'), '+', '-', 'COUNT', 1))[0]?.[1] ?? [];
    expect(start).toContain('"tool":"echo"');
    expect((await counted()) - before).toBe(Buffer.byteLength(start));
  });

  it('counts the state of a suspended call until it is replaced, and refuses states beyond twice the bytes of calls', async () => {
    const callId = newId();
    await accept(callId);
    let attempt = 0;
    const suspend = async (bytes: number) => {
      attempt += 1;
      await log.claim({ callId, attempt, leaseMs: 60_000, worker: 'w', author });
      const before = await counted();
      const state = { ref: `suspension.${attempt}`, sha256: '0'.repeat(64), bytes } as const;
      const data = { reason: 'suspended', nextAttempt: attempt + 1, delayMs: 0, state } as const;
      await log.suspend({ callId, guard: { by: 'worker', fence: attempt, writeSeq: 1 }, data, author });
      return (await counted()) - before;
    };
    const withoutState = (await suspend(1)) - 1;
    const digits = 3;
    expect(await suspend(1_000)).toBe(withoutState + 1_000 - 1 + digits);
    expect(await suspend(2)).toBe(withoutState + 2 - 1_000);
    await expect(suspend(2 * ROOM)).rejects.toThrow(EventLogTenantFull);
    expect(await log.end({ callId, guard: { by: 'worker', fence: attempt, writeSeq: 1 }, data: endOf('failed'), author })).toMatchObject({
      code: 'OK',
    });
    expect(await counted()).toBe(0);
  });

  it('counts what a suspended call keeps of its attempts until it has ended, and refuses more than twice the bytes of calls', async () => {
    const callId = newId();
    await accept(callId);
    let attempt = 0;
    const suspend = async (keptBytes: number) => {
      attempt += 1;
      await log.claim({ callId, attempt, leaseMs: 60_000, worker: 'w', author });
      const before = await counted();
      const data = { reason: 'suspended', nextAttempt: attempt + 1, delayMs: 0 } as const;
      const input = { callId, guard: { by: 'worker' as const, fence: attempt, writeSeq: 1 }, data, keptBytes, author };
      await log.suspend(input);
      const after = await counted();
      // A repeated one is the same.
      expect([(await log.suspend(input)).code, await counted()]).toEqual(['REPLAY', after]);
      return after - before;
    };
    const withoutUpdates = await suspend(0);
    expect([await suspend(1_000), await suspend(2_000)]).toEqual([withoutUpdates + 1_000, withoutUpdates + 2_000]);
    await expect(suspend(2 * ROOM)).rejects.toThrow(EventLogTenantFull);
    expect(await log.end({ callId, guard: { by: 'worker', fence: attempt, writeSeq: 1 }, data: endOf('failed'), author })).toMatchObject({
      code: 'OK',
    });
    expect(await counted()).toBe(0);
  });

  it('counts the input of a suspended call until it is suspended again, and refuses input beyond twice the bytes of calls', async () => {
    const callId = newId();
    await accept(callId);
    const suspend = async (attempt: number) => {
      await log.claim({ callId, attempt, leaseMs: 60_000, worker: 'w', author });
      const data = { prompt: 'Which?', nextAttempt: attempt + 1, expiresInMs: 60_000 } as const;
      await log.requestInput({ callId, guard: { by: 'worker', fence: attempt, writeSeq: 1 }, data, author });
    };
    const version = 3;
    const give = (bytes: number) => {
      const stored = { ref: `input.1.${bytes}`, sha256: '0'.repeat(64), bytes } as const;
      return log.giveInput({ callId, guard: { by: 'command', version, commandId: `${bytes}` }, data: { request: 1, stored }, author });
    };
    await suspend(1);
    const before = await counted();
    await expect(give(2 * ROOM)).rejects.toThrow(EventLogTenantFull);
    expect(await counted()).toBe(before);
    expect(await give(2_000)).toMatchObject({ code: 'OK' });
    const given = (await counted()) - before;
    expect(given).toBeGreaterThan(2_000);
    // A repeated one is the same.
    expect(await give(2_000)).toMatchObject({ code: 'REPLAY' });
    expect((await counted()) - before).toBe(given);
    await suspend(2);
    expect((await counted()) - before).toBeLessThan(2_000);
    expect(await end(callId, version + 3)).toMatchObject({ code: 'OK' });
    expect(await counted()).toBe(0);
  });

  it('counts edited arguments of a call that waits for a person, and refuses them beyond twice the bytes of calls', async () => {
    const callId = newId();
    const question = { reasons: [], digest: 'asked', expiresInMs: 60_000 };
    await log.accept(aCall(callId, { followUp: { kind: 'approval', data: question } }));
    const keep = (keptBytes: number) =>
      log.holdApproval({ callId, guard: { by: 'command', version: 2, commandId: `${keptBytes}` }, hookRuns: [], keptBytes, author });
    const before = await counted();
    await expect(keep(2 * ROOM)).rejects.toThrow(EventLogTenantFull);
    expect(await counted()).toBe(before);
    expect([await keep(2_000), await keep(2_000)]).toMatchObject([
      { code: 'OK', version: 2 },
      { code: 'REPLAY', version: 2 },
    ]);
    expect((await counted()) - before).toBe(2_000);
    expect(await end(callId, 2)).toMatchObject({ code: 'OK' });
    expect(await counted()).toBe(0);
  });

  it('deletes the stored arguments of a rejected call', async () => {
    const callId = newId();
    const text = 'x'.repeat(ROOM);
    const call = { ...aCall(callId), argumentsBlob: text, secretArguments: { text, ttlMs: 60_000 } };
    await expect(log.accept(call)).rejects.toThrow(EventLogTenantFull);
    const blobs = new BlobStore(redis);
    expect([await blobs.get(callId, 'arguments'), await blobs.get(callId, 'secret-arguments')]).toEqual([undefined, undefined]);
  });

  it('accepts a call rejected at admission even without room, since it ends at once', async () => {
    await fill();
    expect(await log.accept(aCall(newId(), { followUp: { kind: 'refused', data: endOf('denied') } }))).toMatchObject({ code: 'OK' });
  });
});
