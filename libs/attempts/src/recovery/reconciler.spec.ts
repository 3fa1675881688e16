import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import type { CallJob, EndData, Pool } from '#contracts';
import { LogGrowth } from '#event-log';
import type { CallQueue } from '#queue';
import { telemetry } from '#observability';
import { eventually } from '../../../../test/support/eventually.js';
import { aSubmission } from '../../../../test/support/sample-calls.js';
import { WorkerParts } from '../../../../test/support/worker-parts.js';
import { workerOrigin } from '../commit/attempt-writer.js';
import { Reconciler, type ReconcilerDeps } from './reconciler.js';
import { SweeperLock } from './sweeper-lock.js';

const AUTHOR = { source: '/gateway/test', actor: 'apikey:test' };

/** Queue whose jobs the test may read and delete. */
class ListQueue implements Pick<CallQueue, 'dispatch' | 'removeJob' | 'stats'> {
  jobs = new Map<string, CallJob>();
  added = 0;

  async dispatch(_pool: Pool, job: CallJob): Promise<void> {
    this.added += 1;
    this.jobs.set(`${job.callId}-${job.attempt}`, job);
  }

  async removeJob(_pool: Pool, job: CallJob): Promise<void> {
    this.jobs.delete(`${job.callId}-${job.attempt}`);
  }

  async stats<P extends string>(pool: P) {
    return { pool, waiting: this.jobs.size, active: 0, oldestWaitingMs: 0 };
  }
}

describe('Reconciler', () => {
  let parts: WorkerParts;
  const opened: Reconciler[] = [];
  beforeAll(async () => {
    parts = await WorkerParts.start();
    parts.tool('safe', { run: () => '' });
    parts.tool('risky', { effect: 'once', run: () => '' });
  });
  afterEach(async () => {
    for (const reconciler of opened.splice(0)) await reconciler.close();
    await parts.redis.del('sweeper');
  });
  afterAll(() => parts.close());

  const reconciler = (queue = new ListQueue(), workerId = 'w1', more: Partial<ReconcilerDeps> = {}) => {
    const { redis, log, store, partitions } = parts;
    const made = new Reconciler({
      workerId,
      partitions,
      redis,
      log,
      store,
      queue,
      logger: pino({ level: 'silent' }),
      onSweep: () => {},
      lock: new SweeperLock(redis, workerId, 2_000),
      growth: new LogGrowth({ redisUrl: parts.server.url, redis, partitions }),
      ...more,
    });
    opened.push(made);
    return made;
  };
  const claim = (callId: string, leaseMs: number, attempt = 1) =>
    parts.log.claim({ callId, attempt, leaseMs, worker: 'gone', author: workerOrigin('gone') });
  const end = async (callId: string): Promise<EndData> => {
    const last = (await parts.events(callId)).at(-1);
    if (last?.type !== 'call.end') throw new Error(`the call has not ended but ${last?.type}`);
    expect(last).toMatchObject({ source: '/reconciler/w1', actor: 'system:reconciler', fence: 0 });
    return last.data;
  };
  const ended = (callId: string) => eventually(async () => (await parts.store.snapshot(callId))?.status === 'ended', `${callId} to end`);

  it('reports each sweep that fails, and the first one after it that does not', async () => {
    const lock = new SweeperLock(parts.redis, 'w1', 2_000);
    const faults = ['away', 'away', 'loading'];
    const swept: (string | undefined)[] = [];
    const tryAcquire = async () => {
      const fault = faults.shift();
      if (fault !== undefined) throw new Error(fault);
      return lock.tryAcquire();
    };
    reconciler(new ListQueue(), 'w1', {
      lock: { tryAcquire, release: () => lock.release(), ttlMs: lock.ttlMs },
      onSweep: (error) => void swept.push(error?.message),
    }).start();
    await eventually(() => swept.length > 3, 'four sweeps');
    expect(swept.slice(0, 4)).toEqual(['away', 'away', 'loading', undefined]);
  });

  it('rests while no timer is due, until the next timer or an event with an earlier one', async () => {
    const rests: number[] = [];
    const growth = new LogGrowth({ redisUrl: parts.server.url, redis: parts.redis, partitions: parts.partitions });
    const close = () => growth.close();
    const grown = (ms: number, signal: AbortSignal) => {
      rests.push(ms);
      return growth.grown(ms, signal);
    };
    reconciler(new ListQueue(), 'w1', { growth: { mark: () => growth.mark(), grown, close } }).start();
    await eventually(() => rests.at(-1) === 15_000, 'a sweep without a timer');
    const callId = await parts.submit('safe', {}, { timeouts: { queueMs: 1_200, runMs: 1_000, totalMs: 60_000 } });
    await ended(callId);
    expect(rests.some((ms) => ms > 0 && ms <= 1_200)).toBe(true);
    expect(rests.length).toBeLessThan(20);
  });

  it('dispatches calls without a Start again, with a growing delay and the same fence', async () => {
    const queue = new ListQueue();
    const callId = await parts.submit('safe');
    reconciler(queue).start();
    await eventually(() => queue.jobs.has(`${callId}-1`), 'the call to be dispatched');
    await eventually(async () => ((await parts.store.snapshot(callId))?.timer ?? 0) > Date.now() + 1_000, 'its timer to move');
    expect(await parts.types(callId)).toEqual(['call.submitted']);
    expect(await claim(callId, 30_000)).toMatchObject({ code: 'OK', fence: 1 });
  });

  it('adds jobs again at once when the queue has lost them', async () => {
    const queue = new ListQueue();
    const callIds = await Promise.all(Array.from({ length: 20 }, () => parts.submit('safe')));
    reconciler(queue).start();
    const all = () => callIds.every((callId) => queue.jobs.has(`${callId}-1`));
    await eventually(all, 'all calls to be dispatched again');
    queue.jobs.clear();
    const before = queue.added;
    await eventually(all, 'all calls to be in the queue again');
    expect(queue.added - before).toBeLessThanOrEqual(3 * callIds.length);
    for (const callId of callIds) await claim(callId, 30_000);
  });

  it('ends a call that waited too long in the queue and whose job is useless', async () => {
    const queue = new ListQueue();
    const callId = await parts.submit('safe', {}, { timeouts: { queueMs: 50, runMs: 1_000, totalMs: 60_000 } });
    const whole = await parts.submit('safe', {}, { timeouts: { queueMs: 50, runMs: 1_000, totalMs: 50 } });
    for (const id of [callId, whole]) await queue.dispatch('read', { callId: id, attempt: 1 });
    reconciler(queue).start();
    await Promise.all([ended(callId), ended(whole)]);
    await eventually(() => queue.jobs.size === 0, 'the jobs to be withdrawn');
    expect(await end(callId)).toMatchObject({
      outcome: 'timed_out',
      error: { code: 'queue_timeout' },
      result: { isError: true },
      attempts: 0,
      stopped: { how: 'not_started' },
    });
    expect(await end(whole)).toMatchObject({ outcome: 'timed_out', error: { code: 'queue_timeout' } });
  });

  it('runs a call of a lost worker again, or owns up when that may not be', async () => {
    const expired: string[] = [];
    const stop = telemetry.leaseExpired.on(({ tool }) => expired.push(tool));
    const queue = new ListQueue();
    const [safe, last, risky] = [
      await parts.submit('safe'),
      await parts.submit('safe', {}, { retry: { maxAttempts: 1, backoffMs: 0, maxBackoffMs: 0 } }),
      await parts.submit('risky'),
    ];
    for (const callId of [safe, last, risky]) expect(await claim(callId, 30)).toMatchObject({ code: 'OK' });
    reconciler(queue).start();
    await Promise.all([ended(last), ended(risky), eventually(() => queue.jobs.has(`${safe}-2`), 'the second attempt')]);
    expect(await end(last)).toMatchObject({ outcome: 'failed', error: { code: 'worker_lost' }, attempts: 1 });
    expect(await end(risky)).toMatchObject({ outcome: 'unknown', error: { code: 'outcome_unknown' } });
    expect(await parts.types(safe)).toEqual(['call.submitted', 'call.start', 'call.retry']);
    // The lost worker returns too late.
    expect(
      await parts.log.end({
        callId: safe,
        guard: { by: 'worker', fence: 1, writeSeq: 1 },
        data: { outcome: 'completed', attempts: 1 },
        author: workerOrigin('gone'),
      }),
    ).toMatchObject({ code: 'FENCED' });
    expect(await claim(safe, 30_000, 2)).toMatchObject({ code: 'OK', attempt: 2, failures: 1 });
    stop();
    expect(expired.sort()).toEqual(['risky', 'safe', 'safe']);
  });

  it('ends a cancelled call when the grace is over and its worker is silent', async () => {
    const callId = await parts.submit('safe');
    await claim(callId, 30_000);
    await parts.cancel(callId, 50);
    reconciler().start();
    await ended(callId);
    expect(await end(callId)).toMatchObject({ outcome: 'cancelled', error: { code: 'cancelled' }, stopped: { how: 'unknown' } });
  });

  it('ends a call far past its run deadline though its worker renews', async () => {
    const callId = await parts.submit('safe', {}, { timeouts: { queueMs: 60_000, runMs: 20, totalMs: 60_000 } });
    await claim(callId, 60_000);
    reconciler().start();
    await ended(callId);
    const data = await end(callId);
    expect(data).toMatchObject({ outcome: 'timed_out', error: { code: 'run_timeout' }, stopped: { how: 'unknown' } });
    expect(data.stopped?.tookMs).toBeGreaterThanOrEqual(4_000);
    expect(data.stopped?.tookMs).toBeLessThan(60_000);
  });

  it('denies an approval without a decision in time [PP-95]', async () => {
    const callId = parts.log.newCallId('test');
    const submitted = aSubmission({ tool: 'safe', decision: { effect: 'ask', reasons: [] } });
    await parts.log.accept({
      callId,
      meta: { tenantId: 'test', tool: 'safe' },
      submitted: { ...submitted, decision: { effect: 'ask', reasons: [] } },
      author: AUTHOR,
      followUp: { kind: 'approval', data: { reasons: [], digest: 'd', expiresInMs: 50 } },
    });
    reconciler().start();
    await ended(callId);
    expect(await end(callId)).toMatchObject({ outcome: 'denied', error: { code: 'approval_expired' } });
  });

  it('does no harm when three reconcilers sweep at the same time', async () => {
    const queues = [new ListQueue(), new ListQueue(), new ListQueue()];
    const lost = await Promise.all(Array.from({ length: 30 }, (_unused, n) => parts.submit(n % 2 === 0 ? 'safe' : 'risky')));
    for (const callId of lost) await claim(callId, 10);
    const all = queues.map((queue, n) => reconciler(queue, `w${n + 1}`));
    await eventually(async () => {
      await Promise.all(all.map((one) => one.sweep()));
      const heads = await Promise.all(lost.map((callId) => parts.store.snapshot(callId)));
      return heads.every((head) => head?.status !== 'running');
    }, 'all calls to be settled');
    for (const [n, callId] of lost.entries()) {
      expect(await parts.types(callId)).toEqual(['call.submitted', 'call.start', n % 2 === 0 ? 'call.retry' : 'call.end']);
      if (n % 2 === 0) await claim(callId, 60_000, 2);
    }
  });

  it('lets one reconciler sweep at a time, and the next one after it leaves', async () => {
    const lease = (workerId: string) => new SweeperLock(parts.redis, workerId, 60_000);
    expect(await lease('a').tryAcquire()).toBe(true);
    expect(await lease('b').tryAcquire()).toBe(false);
    expect(await lease('a').tryAcquire()).toBe(true);
    await lease('b').release();
    expect(await lease('b').tryAcquire()).toBe(false);
    await lease('a').release();
    expect(await lease('b').tryAcquire()).toBe(true);
  });

  it('recovers calls beside many unrecoverable ones, with one warning for each of those', async () => {
    const broken = await Promise.all(Array.from({ length: 150 }, () => parts.submit('safe', {}, { sessionId: 'broken' })));
    const other = await parts.submit('safe', {}, { sessionId: 'broken' });
    const warned: unknown[] = [];
    const logger = { info: () => {}, warn: ({ callId }: { callId?: string }) => void warned.push(callId) };
    const queue = new ListQueue();
    const dispatch = async (pool: Pool, job: CallJob) => {
      if (broken.includes(job.callId)) throw new Error('this call cannot be dispatched');
      await queue.dispatch(pool, job);
    };
    const refusing = { dispatch, removeJob: queue.removeJob.bind(queue), stats: queue.stats.bind(queue) };
    reconciler(queue, 'w1', { logger, queue: refusing }).start();
    await eventually(() => queue.jobs.has(`${other}-1`), 'the call behind them to be dispatched');
    await eventually(() => warned.length >= broken.length, 'all of them to be looked at');
    expect(new Set(warned).size).toBe(warned.length);
  });
});
