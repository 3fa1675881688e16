import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { CallJob, Priority } from '#contracts';
import type { CallConsumer, CallQueue } from '#queue';
import { createRedis } from '#redis';
import { eventually } from '../support/eventually.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';

/** Implementation of the queue port over a Redis. */
export interface QueueUnderTest {
  readonly name: string;
  /** Number of jobs: enough to show a race between workers, and few enough for one script a job to finish in time. */
  readonly jobsUnderLoad: number;
  openQueue(redisUrl: string): Promise<CallQueue>;
  consume(redisUrl: string, slots: number, handler: (job: CallJob) => Promise<void>): CallConsumer;
  /** Deletes every job of the pool behind the workers' backs, as an operator would. */
  obliterate(redisUrl: string): Promise<void>;
}

let made = 0;
export function newJob(attempt = 1): CallJob {
  return { callId: `00-${String(made++).padStart(26, '0')}`, attempt };
}

/** Contract of every implementation of the queue port. All tests use the pool `read` of a Redis of their own. */
export function queueContract({ name, jobsUnderLoad, openQueue, consume, obliterate }: QueueUnderTest): void {
  describe(`a call queue: ${name}`, () => {
    let redis: RedisServer;
    let queue: CallQueue;
    let consumers: CallConsumer[];
    let runs: Map<string, number>;
    const news = new EventEmitter();

    const ran = (job: CallJob) => {
      runs.set(job.callId, (runs.get(job.callId) ?? 0) + 1);
      news.emit('ran');
    };
    const consumer = (slots: number, handler: (job: CallJob) => Promise<void> = async (job) => ran(job)) => {
      const opened = consume(redis.url, slots, handler);
      consumers.push(opened);
      return opened;
    };
    const dispatch = async (jobs: readonly CallJob[], priority: Priority = 'normal') => {
      await Promise.all(jobs.map((job) => queue.dispatch('read', job, priority)));
    };
    const allRan = async (count: number, deadlineMs = 100_000) => {
      const deadline = AbortSignal.timeout(deadlineMs);
      while (runs.size < count) {
        await once(news, 'ran', { signal: deadline }).catch(() =>
          Promise.reject(new Error(`${runs.size} of ${count} jobs ran within ${deadlineMs} ms`)),
        );
      }
    };
    /** The longest pause of this process or of Redis until `stop`: what took so long says nothing about the queue. */
    const watchPauses = () => {
      const probe = createRedis(redis.url);
      let longest = 0;
      let isWatching = true;
      const watched = (async () => {
        while (isWatching) {
          const begin = performance.now();
          await delay(50);
          await probe.set('probe', '');
          longest = Math.max(longest, performance.now() - begin - 50);
        }
        probe.disconnect();
      })();
      return {
        stop: async () => {
          isWatching = false;
          await watched;
          return longest;
        },
      };
    };
    const nothingLeft = () => eventually(async () => isIdle(await queue.stats('read')), 'the queue to be empty');

    beforeAll(async () => {
      redis = await startRedisServer({ settings: ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'] });
    });
    afterAll(() => redis.stop());
    beforeEach(async () => {
      queue = await openQueue(redis.url);
      consumers = [];
      runs = new Map();
    });
    afterEach(async () => {
      await Promise.all(consumers.map((one) => one.close()));
      await queue.close();
      const admin = createRedis(redis.url);
      await admin.flushall();
      admin.disconnect();
    });

    it('runs each of thousands of jobs once, for any slots and durations', async () => {
      for (const slots of [1, 7, 50]) {
        consumer(slots, async (job) => {
          const luck = Math.random();
          if (luck < 0.02) await delay(luck * 1000);
          else if (luck < 0.3) await new Promise(setImmediate);
          ran(job);
        });
      }
      const jobs = Array.from({ length: jobsUnderLoad }, () => newJob());
      for (let i = 0; i < jobs.length; i += 1000) await dispatch(jobs.slice(i, i + 1000));
      await allRan(jobsUnderLoad);
      await nothingLeft();
      expect([...runs.values()].filter((count) => count !== 1)).toEqual([]);
    });

    it('loses and doubles no job while workers join and leave', async () => {
      consumer(3);
      const dispatched = (async () => {
        for (let i = 0; i < 40; i++) {
          await dispatch(Array.from({ length: 50 }, () => newJob()));
          await new Promise(setImmediate);
        }
      })();
      for (let i = 0; i < 15; i++) {
        const passing = consumer(1 + (i % 10), async (job) => {
          await delay(Math.random() * 5);
          ran(job);
        });
        await eventually(() => passing.running > 0 || runs.size === 2000, 'the new worker to get work');
        await passing.close();
      }
      await dispatched;
      await allRan(2000);
      await nothingLeft();
      expect([...runs.values()].filter((count) => count !== 1)).toEqual([]);
    });

    it('lets running handlers finish when a worker closes, and leaves the rest to others', async () => {
      let release = () => {};
      const gate = new Promise<void>((resolve) => (release = resolve));
      const closing = consumer(4, async (job) => {
        await gate;
        ran(job);
      });
      await dispatch(Array.from({ length: 20 }, () => newJob()));
      await eventually(() => closing.running === 4, 'all slots to be taken');
      const closed = closing.close();
      release();
      await closed;
      expect(closing.running).toBe(0);
      expect(runs.size).toBe(4);
      consumer(4);
      await allRan(20);
    });

    it('starts no more jobs than slots at once, and follows when they change', async () => {
      let most = 0;
      const release: (() => void)[] = [];
      const worker = consumer(2, async (job) => {
        most = Math.max(most, worker.running);
        await new Promise<void>((resolve) => release.push(resolve));
        ran(job);
      });
      await dispatch(Array.from({ length: 30 }, () => newJob()));
      await eventually(() => worker.running === 2, 'two jobs to run');
      worker.setConcurrency(5);
      const finishOne = () => release.shift()?.();
      finishOne();
      await eventually(() => worker.running === 5, 'five jobs to run');
      const feeding = setInterval(finishOne, 1);
      await allRan(30).finally(() => clearInterval(feeding));
      expect(most).toBe(5);
    });

    it('runs high before normal before low jobs, and equals in the order of their dispatch', async () => {
      const wanted: string[] = [];
      for (const priority of ['low', 'high', 'normal'] as const) {
        for (let i = 0; i < 5; i++) {
          const job = newJob();
          await dispatch([job], priority);
          wanted.push(`${{ high: 1, normal: 2, low: 3 }[priority]} ${job.callId}`);
        }
      }
      consumer(1);
      await allRan(15);
      expect([...runs.keys()]).toEqual(wanted.sort().map((entry) => entry.slice(2)));
    });

    it('ignores a second dispatch of an attempt while its job waits or runs, and accepts it afterwards', async () => {
      const job = newJob();
      await dispatch([job, job]);
      await dispatch([job]);
      let release = () => {};
      const worker = consumer(2, async (taken) => {
        await new Promise<void>((resolve) => (release = resolve));
        ran(taken);
      });
      await eventually(() => worker.running === 1, 'the job to run');
      await dispatch([job]);
      release();
      await nothingLeft();
      expect(runs.get(job.callId)).toBe(1);

      await dispatch([job]);
      await eventually(() => worker.running === 1, 'the job to run again');
      release();
      await nothingLeft();
      expect(runs.get(job.callId)).toBe(2);
    });

    it('withdraws a waiting job, and ignores a running or unknown one', async () => {
      const [waiting, running] = [newJob(), newJob()];
      await dispatch([waiting]);
      expect(await queue.stats('read')).toMatchObject({ waiting: 1 });
      await queue.removeJob('read', waiting);
      await queue.removeJob('read', waiting);
      expect(await queue.stats('read')).toMatchObject({ waiting: 0, oldestWaitingMs: 0 });
      let release = () => {};
      consumer(
        1,
        (job) =>
          new Promise((resolve) => {
            release = () => resolve(ran(job));
            news.emit('ran');
          }),
      );
      const begun = once(news, 'ran');
      await dispatch([running]);
      await begun;
      await queue.removeJob('read', running);
      release();
      await allRan(1);
      expect([...runs.keys()]).toEqual([running.callId]);
      await nothingLeft();
    });

    it('treats another attempt of the same call as another job', async () => {
      const job = newJob();
      await dispatch([job, { ...job, attempt: 2 }]);
      consumer(1);
      await eventually(() => runs.get(job.callId) === 2, 'both attempts to run');
    });

    it('continues after the queue was obliterated under running workers', async () => {
      let release = () => {};
      const gate = new Promise<void>((resolve) => (release = resolve));
      const worker = consumer(2, async (job) => {
        await gate;
        ran(job);
      });
      const jobs = Array.from({ length: 10 }, () => newJob());
      await dispatch(jobs);
      await eventually(() => worker.running === 2, 'two jobs to run');
      await obliterate(redis.url);
      release();
      await nothingLeft();
      const missing = jobs.filter((job) => !runs.has(job.callId));
      expect(missing).toHaveLength(8);
      await dispatch(missing);
      await allRan(10);
    });

    it('reports the depth of a pool and the age of its oldest job', async () => {
      expect(await queue.stats('read')).toEqual({ pool: 'read', waiting: 0, active: 0, oldestWaitingMs: 0 });
      await dispatch([newJob()], 'low');
      await delay(30);
      await dispatch([newJob(), newJob()], 'high');
      const depth = await queue.stats('read');
      expect(depth).toMatchObject({ waiting: 3, active: 0 });
      expect(depth.oldestWaitingMs).toBeGreaterThanOrEqual(30);
    });

    it('sleeps through no job: hammered with lone jobs and small bursts', async () => {
      for (const slots of [1, 2, 5]) {
        consumer(slots, async (job) => {
          if (Math.random() < 0.3) await new Promise(setImmediate);
          ran(job);
        });
      }
      let slowest = 0;
      const pauses = watchPauses();
      for (let i = 0; i < 1500; i++) {
        const before = runs.size;
        const burst = 1 + (i % 4);
        if (i % 16 === 0) await delay(Math.random() * 3);
        for (let turns = i % 7; turns > 0; turns--) await new Promise(setImmediate);
        const begin = performance.now();
        await dispatch(Array.from({ length: burst }, () => newJob()));
        await allRan(before + burst);
        slowest = Math.max(slowest, performance.now() - begin);
      }
      // A worker that missed its wake-up looks again only after 5 s.
      expect(slowest - (await pauses.stop())).toBeLessThan(4_500);
    });

    it('wakes as many idle workers as a burst can keep busy', async () => {
      let open = new Set<() => void>();
      const busy = () => new Promise<void>((resolve) => open.add(resolve));
      for (const slots of [1, 1, 1]) {
        consumer(slots, async (job) => {
          await busy();
          ran(job);
        });
      }
      let slowest = 0;
      const pauses = watchPauses();
      for (let round = 1; round <= 15; round++) {
        const begin = performance.now();
        await dispatch([newJob(), newJob(), newJob()]);
        await eventually(() => open.size === 3, 'all three workers to be busy');
        if (round > 1) slowest = Math.max(slowest, performance.now() - begin);
        for (const release of open) release();
        open = new Set();
        await allRan(3 * round);
        await nothingLeft();
      }
      expect(slowest - (await pauses.stop())).toBeLessThan(4_500);
    });

    it('wakes an idle worker at once', async () => {
      const waits: number[] = [];
      let begin = 0;
      consumer(5, async (job) => {
        waits.push(performance.now() - begin);
        ran(job);
      });
      for (let i = 0; i < 15; i++) {
        await delay(20);
        begin = performance.now();
        await dispatch([newJob()]);
        await allRan(i + 1);
      }
      expect(waits.sort((a, b) => a - b)[7]).toBeLessThan(1_000);
    });

    it('fails a dispatch at once while Redis is away, and works again when it is back', async () => {
      await dispatch([newJob()]);
      await redis.kill();
      try {
        const begin = performance.now();
        await expect(dispatch([newJob()])).rejects.toThrow(/writeable|closed|retries|ECONN/);
        expect(performance.now() - begin).toBeLessThan(10_000);
      } finally {
        await redis.start();
      }
      await eventually(
        () =>
          dispatch([newJob()]).then(
            () => true,
            () => false,
          ),
        'a dispatch to work again',
      );
      consumer(1);
      await eventually(() => runs.size >= 2, 'the jobs to run');
    });

    it('continues after Redis was killed and restarted: a job dispatched again has run', async () => {
      for (const slots of [2, 10]) {
        consumer(slots, async (job) => {
          await delay(Math.random() * 3);
          ran(job);
        });
      }
      const jobs = Array.from({ length: 400 }, () => newJob());
      await dispatch(jobs);
      await eventually(() => runs.size > 50, 'work to be under way');
      await redis.kill();
      await redis.start();
      const rest = Array.from({ length: 100 }, () => newJob());
      await eventually(
        () =>
          dispatch(rest).then(
            () => true,
            () => false,
          ),
        'a dispatch to work again',
      );
      await eventually(() => rest.every((job) => runs.has(job.callId)), 'the jobs dispatched after the restart to run');
    });
  });
}

function isIdle(depth: { waiting: number; active: number }): boolean {
  return depth.waiting === 0 && depth.active === 0;
}
