import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedis, LuaScript, type RedisConnection } from '#redis';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { aCall, aSubmission } from '../../../../test/support/sample-calls.js';
import { EventLog } from '../event-log.js';
import type { DequeueClaim, NewCall } from '../event-log.port.js';
import { CallStore } from '../read/call-store.js';

const AUTHOR = { source: '/worker/w1', actor: 'worker:w1' };
const CLAIMANT = { leaseMs: 30_000, worker: 'w1', author: AUTHOR };
const PARTITIONS = 16;

describe('claiming the calls of jobs that are taken', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let log: EventLog;
  let store: CallStore;
  beforeAll(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
    log = await EventLog.open(redis, { partitions: PARTITIONS });
    store = new CallStore(redis);
  });
  afterAll(async () => {
    await log.close();
    redis.disconnect();
    await server.stop();
  });

  const submit = async (args: NewCall['submitted']['arguments'] = {}): Promise<string> => {
    const callId = log.newCallId('test');
    await log.accept(aCall(callId, { submitted: aSubmission({ arguments: args }) }));
    return callId;
  };
  /** Claims like the queue does; returns the script's answer for each call. */
  const take = async (by: EventLog, ...jobs: readonly [callId: string, attempt: number][]): Promise<DequeueClaim[]> => {
    const { lua, args } = by.claimOnDequeue(CLAIMANT);
    const script = new LuaScript(
      `#!lua flags=allow-oom\n${lua}\nlocal args, jobs = {}, {}\nfor i = 1, ${args.length} do args[i] = ARGV[i] end\n` +
        `for i = ${args.length + 1}, #ARGV do jobs[i - ${args.length}] = ARGV[i] end\nreturn onDequeue(jobs, args)`,
    );
    const answer = await script.run(redis, [], [...args, ...jobs.flat()]);
    if (!Array.isArray(answer)) throw new Error('expected a list');
    const [shared, ...own] = answer;
    return own.map((one) => ({ kind: 'answered', shared, own: one }));
  };
  const claim = (by: EventLog, callId: string, attempt: number, taken?: DequeueClaim) => by.claim({ ...CLAIMANT, callId, attempt }, taken);

  it('makes on dequeue the claim that a worker would have made, for calls of any partitions at once', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, (_unused, n) => submit({ n })));
    const taken = await take(log, ...ids.map((id): [string, number] => [id, 1]));
    for (const [index, callId] of ids.entries()) {
      const claimed = await claim(log, callId, 1, taken[index]);
      expect(claimed).toMatchObject({ code: 'OK', attempt: 1, fence: 1, submitted: { arguments: { n: index } } });
      const [, start] = await store.events(callId);
      expect(JSON.parse(start?.json ?? '')).toMatchObject({
        type: 'call.start',
        source: '/worker/w1',
        data: { tool: 'echo', arguments: { n: index }, worker: 'w1' },
      });
    }
    const [plain] = [await submit()];
    const usual = await claim(log, plain, 1);
    const [again] = await take(log, [await submit(), 1]);
    const sizes = { time: 0, submittedAt: 0, firstStartedAt: 0, seq: 0 };
    expect({ ...(await claim(log, 'unused', 1, again)), ...sizes }).toEqual({ ...usual, ...sizes });
  });

  it('refuses each claim separately: of a running call, an unknown call, and an ended attempt', async () => {
    const [running, fresh] = [await submit(), await submit()];
    const unknown = log.newCallId('test');
    await take(log, [running, 1]);
    const taken = await take(log, [running, 1], [unknown, 1], [fresh, 2], [fresh, 1]);
    const codes = await Promise.all(taken.map(async (one) => (await claim(log, 'unused', 1, one)).code));
    expect(codes).toEqual(['BAD_TRANSITION', 'NOT_FOUND', 'CONFLICT', 'OK']);
  });

  it('repeats a granted claim only for the worker whose answer was lost', async () => {
    const callId = await submit();
    const other = await EventLog.open(redis, { partitions: PARTITIONS });
    const [taken] = await take(log, [callId, 1]);
    expect(await claim(other, callId, 1, { kind: 'lost' })).toMatchObject({ code: 'BAD_TRANSITION' });
    expect(await claim(log, callId, 1)).toMatchObject({ code: 'BAD_TRANSITION' });
    expect(await claim(log, callId, 1, { kind: 'lost' })).toEqual({
      ...(await claim(log, callId, 1, taken)),
      code: 'REPLAY',
      runMs: expect.any(Number),
    });
    await other.close();
  });

  it('makes a claim again when the answer was lost because the script never ran', async () => {
    expect(await claim(log, await submit(), 1, { kind: 'lost' })).toMatchObject({ code: 'OK', fence: 1 });
  });
});
