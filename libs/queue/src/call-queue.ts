import { Queue, type RedisQueueBackend } from 'bullmq';
import type { CallJob, Priority, ToolEffect } from '#contracts';
import { createRedis, writeTogether, type RedisConnection } from '#redis';
import { BatchingProducerBackend } from './batching-producer.js';
import { producerBackend } from './bull-connection.js';
import { PRIORITY_SPAN, JOB_NAME, JOB_OPTIONS, PRIORITY, queueName, type QueueBackend } from './bull-settings.js';
import type { DequeueHook } from './dequeue-hook.js';
import type { CallQueue, QueueDepth, QueueStats, QueuePosition } from './queue.port.js';

export interface CallQueueOptions {
  readonly redisUrl: string;
  /** `batching` by default. */
  readonly backend?: QueueBackend;
  /**
   * Connection to add jobs, best that of the log: a job added right after the accept of its call is sent together with it. The
   * caller closes it. By default the queue opens one, on which a dispatch fails at once while Redis is unreachable.
   */
  readonly producerConnection?: RedisConnection;
  /** Dequeue hook of the workers; enables direct dispatch to idle workers. Only on `producerConnection`. */
  readonly dequeueHook?: Pick<DequeueHook, 'lua'>;
}

/** Wait of the first dispatches for the first connection; later ones fail at once while Redis is unreachable. */
const FIRST_CONNECTION_MS = 2000;

/** BullMQ queues, one a pool, on one connection. A dispatch that fails does no harm: the log's timers dispatch again. */
export class BullCallQueue implements CallQueue {
  private readonly client: RedisConnection;
  private readonly connected: Promise<void>;
  private readonly openQueue: (pool: string) => CallsQueue;
  private readonly statsReadings = new Map<string, Reading<QueueDepth>>();
  private readonly waitings = new Map<string, Reading<number>>();
  private readonly queues = new Map<string, CallsQueue>();
  private closed: Promise<void> | undefined;

  constructor({ redisUrl, backend = 'batching', producerConnection, dequeueHook }: CallQueueOptions) {
    this.client = createRedis(redisUrl, { role: 'producer', name: 'queue' });
    this.connected = firstConnection(this.client);
    const dispatchesDirectly = producerConnection !== undefined && !producerConnection.isCluster;
    this.openQueue = (pool) => {
      const { name, prefix } = queueName(pool);
      const queue: CallsQueue = new Queue(
        name,
        { connection: {}, streams: { events: { maxLen: 100 } } },
        producerBackend(producerConnection ?? this.client, backend, prefix, dispatchesDirectly ? dequeueHook?.lua : undefined),
      );
      // Each dispatch reports connection errors too, and an error event without a listener would be printed.
      queue.on('error', () => {});
      return queue;
    };
  }

  /** Adds a job. The stock backend has no fair share between tenants. */
  async dispatch(pool: string, job: CallJob, priority: Priority, tenantId = '', effect: ToolEffect = 'once'): Promise<void> {
    await this.connected;
    const queue = this.queueFor(pool);
    const backend = queue.getBackend();
    const [id, rank] = [jobIdOf(job), PRIORITY[priority]];
    if (backend instanceof BatchingProducerBackend)
      await backend.enqueueFair({ id, data: JSON.stringify(job), priority: rank, tenant: tenantId, repeatable: effect !== 'once' });
    else await queue.add(JOB_NAME, job, { ...JOB_OPTIONS, jobId: id, priority: rank });
  }

  async removeJob(pool: string, job: CallJob): Promise<void> {
    await this.connected;
    await this.queueFor(pool).remove(jobIdOf(job));
  }

  async position(pool: string, job: CallJob): Promise<QueuePosition | undefined> {
    await this.connected;
    const { wait = '', prioritized = '', active = '' } = this.queueFor(pool).getBackend().keys;
    const [rank, givenBackAt, scored, givenBack, running] = await Promise.all([
      this.client.zrank(prioritized, jobIdOf(job)),
      this.client.lpos(wait, jobIdOf(job)),
      this.client.zcard(prioritized),
      this.client.llen(wait),
      this.client.llen(active),
    ]);
    const ahead = givenBackAt === null ? (rank === null ? undefined : givenBack + rank) : givenBack - 1 - givenBackAt;
    return ahead === undefined ? undefined : { ahead, waiting: scored + givenBack, active: running };
  }

  async stats<P extends string>(pool: P, maxAgeMs?: number): Promise<QueueStats<P>> {
    return { pool, ...(await shared(this.statsReadings, pool, () => this.readDepth(pool), maxAgeMs)) };
  }

  waitingCount(pool: string): Promise<number> {
    return shared(this.waitings, pool, () => this.readWaiting(pool));
  }

  close(): Promise<void> {
    return (this.closed ??= this.shutDown());
  }

  private async readDepth(pool: string): Promise<QueueDepth> {
    await this.connected;
    const backend = this.queueFor(pool).getBackend();
    const [waiting, active] = await writeTogether(this.client, () =>
      Promise.all([this.countWaiting(backend), this.client.llen(backend.keys['active'] ?? '')]),
    );
    return { waiting, active, oldestWaitingMs: waiting === 0 ? 0 : await this.oldestWaitingMs(backend) };
  }

  private async readWaiting(pool: string): Promise<number> {
    await this.connected;
    const backend = this.queueFor(pool).getBackend();
    return writeTogether(this.client, () => this.countWaiting(backend));
  }

  private async countWaiting({ keys: { wait = '', prioritized = '' } }: RedisQueueBackend): Promise<number> {
    const [givenBack, scored] = await Promise.all([this.client.llen(wait), this.client.zcard(prioritized)]);
    return givenBack + scored;
  }

  private queueFor(pool: string): CallsQueue {
    if (this.closed) throw new Error('The queue is closed.');
    let queue = this.queues.get(pool);
    if (!queue) this.queues.set(pool, (queue = this.openQueue(pool)));
    return queue;
  }

  /**
   * Age of the oldest job: the last in the list of requeued jobs, or the first of its tenant. The first job of each tenant is
   * in the present round or in the next one, and a round is in the order of adding.
   */
  private async oldestWaitingMs(backend: RedisQueueBackend): Promise<number> {
    const { wait = '', prioritized = '' } = backend.keys;
    const firstFrom = async (from: number, priority: number): Promise<string[]> => {
      return this.client.zrangebyscore(prioritized, from, `(${(priority + 1) * PRIORITY_SPAN}`, 'WITHSCORES', 'LIMIT', 0, 1);
    };
    const firsts = await Promise.all([
      this.client.lindex(wait, -1),
      ...Object.values(PRIORITY).map(async (priority) => {
        const [id, score] = await firstFrom(priority * PRIORITY_SPAN, priority);
        if (id === undefined) return [];
        const [next] = await firstFrom(Math.floor(Number(score)) + 1, priority);
        return [id, next];
      }),
    ]);
    const ids = firsts.flat().filter((id) => typeof id === 'string');
    const times = await Promise.all(ids.map((id) => this.client.hget(backend.toKey(id), 'timestamp')));
    return times.reduce((oldest, time) => (time === null ? oldest : Math.max(oldest, Date.now() - Number(time))), 0);
  }

  private async shutDown(): Promise<void> {
    await Promise.allSettled([...this.queues.values()].map((queue) => queue.close()));
    this.client.disconnect();
  }
}

type CallsQueue = Queue<CallJob, void, typeof JOB_NAME>;

const UNDER_WAY = Number.POSITIVE_INFINITY;

interface Reading<T> {
  readonly answer: Promise<T>;
  /** Time of the answer, by `performance.now()`. */
  at: number;
}

/** Shares a pending answer between concurrent callers, so that it may be a few round trips old; later callers get it within `maxAgeMs`. */
function shared<T>(readings: Map<string, Reading<T>>, pool: string, read: () => Promise<T>, maxAgeMs = 0): Promise<T> {
  const previous = readings.get(pool);
  if (previous !== undefined && (previous.at === UNDER_WAY || performance.now() - previous.at < maxAgeMs)) return previous.answer;
  const reading: Reading<T> = { answer: read(), at: UNDER_WAY };
  const came = () => void (reading.at = performance.now());
  const failed = () => void (reading.at = Number.NEGATIVE_INFINITY);
  reading.answer.then(came, failed);
  readings.set(pool, reading);
  return reading.answer;
}

function jobIdOf({ callId, attempt }: CallJob): string {
  return `${callId}-${attempt}`;
}

async function firstConnection(client: RedisConnection): Promise<void> {
  if (client.status === 'ready') return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, FIRST_CONNECTION_MS);
    client.once('ready', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
