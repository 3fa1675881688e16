import { Queue, Worker } from 'bullmq';
import { z } from 'zod';
import { createRedis, keys, type RedisConnection } from '#redis';
import { producerBackend, workerBackend } from './bull-connection.js';
import { IDLE_POLL_S } from './bull-settings.js';

/** Due time of a schedule, ms since the epoch. */
export const DueRun = z.object({ tenantId: z.string(), scheduleId: z.string(), dueAt: z.number() });
export type DueRun = z.output<typeof DueRun>;

/** `again`: not yet; called again after `RETRY_MS`. `tries` counts from 1. */
export type DueHandler = (run: DueRun, tries: number) => Promise<'done' | 'again'>;

export const RETRY_MS = 1_000;
const JOB_NAME = 'due';

type DueQueue = Queue<DueRun, void, typeof JOB_NAME>;

const CONCURRENCY = 16;
const LOCK_MS = 15_000;
/** Practically unlimited: the handler decides whether a due time is too late. */
const TRIES = 1_000_000;

/**
 * Due times as delayed jobs of BullMQ, each under an id of its own, so that a repeated add is safe. A job whose process died
 * runs in another process. Handlers must expect the same due time more than once.
 */
export class ScheduleQueue {
  private readonly client: RedisConnection;
  private readonly queue: DueQueue;
  private readonly prefix = keys.queuePrefix('schedules');
  private worker: Worker | undefined;

  constructor(
    private readonly redisUrl: string,
    private readonly onError: (error: Error) => void,
  ) {
    this.client = createRedis(redisUrl, { role: 'command', name: 'schedules' });
    const settings = { connection: {}, streams: { events: { maxLen: 100 } } };
    this.queue = new Queue(keys.scheduleQueueName(), settings, producerBackend(this.client, 'stock', this.prefix));
    this.queue.on('error', () => {});
  }

  /** Adds a due time. No effect while the same due time waits or runs. */
  async add(run: DueRun): Promise<void> {
    await this.queue.add(JOB_NAME, run, {
      jobId: `${run.scheduleId}.${run.dueAt}`,
      delay: Math.max(0, run.dueAt - Date.now()),
      attempts: TRIES,
      backoff: { type: 'fixed', delay: RETRY_MS },
      removeOnComplete: true,
      removeOnFail: true,
    });
  }

  start(handle: DueHandler): void {
    const clients = {
      command: createRedis(this.redisUrl, { role: 'command', name: 'schedules-worker' }),
      blocking: createRedis(this.redisUrl, { role: 'blocking', name: 'schedules-wait' }),
      commandIsShared: false,
    };
    this.worker = new Worker(
      keys.scheduleQueueName(),
      async (job) => {
        if ((await handle(DueRun.parse(job.data), job.attemptsMade + 1)) === 'again') throw new NotYet();
      },
      {
        concurrency: CONCURRENCY,
        drainDelay: IDLE_POLL_S,
        lockDuration: LOCK_MS,
        stalledInterval: LOCK_MS / 2,
        maxStalledCount: TRIES,
        connection: {},
      },
      workerBackend(clients, this.prefix, undefined),
    );
    this.worker.on('error', () => {});
    this.worker.on('failed', (_job, error) => {
      if (!(error instanceof NotYet)) this.onError(error);
    });
  }

  /** Waits for the due times that are being handled. Idempotent. */
  async close(): Promise<void> {
    await this.worker?.close();
    await this.queue.close();
    this.client.disconnect();
  }
}

class NotYet extends Error {
  constructor() {
    super('The run waits');
  }
}
