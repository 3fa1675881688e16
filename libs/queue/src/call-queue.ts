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
   * Where jobs are added, best the connection of the log: a job that is added right behind the accept of its call leaves in
   * one write with it. Stays the caller's to close. By default the queue's own, on which a dispatch fails at once while Redis is away.
   */
  readonly producerConnection?: RedisConnection;
  /** What the workers run for the jobs that they take: then a job that is added goes to a worker that is idle at once. Only on `producerConnection`. */
  readonly dequeueHook?: Pick<DequeueHook, 'lua'>;
}

/** How long the first dispatches wait for the first connection; later ones fail at once while Redis is away. */
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
      // Connection errors come out of each dispatch too, and an error event without a listener is printed.
      queue.on('error', () => {});
      return queue;
    };
  }

  /** For readiness; `producerConnection` is its owner's. */
  get connections(): readonly RedisConnection[] {
    return [this.client];
  }

  /** With the stock backend tenants do not take turns: its script knows one order only. */
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
   * The oldest job is last in the list of jobs that were given back, or first in its tenant's line. The first of each
   * line is in the round that is being served or in the next one, and a round is in the order of adding.
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
  /** When it came, by `performance.now()`. */
  at: number;
}

/** Those who ask while an answer is under way share it: it may be a few round trips old. Later ones do where they take an older one. */
function shared<T>(readings: Map<string, Reading<T>>, pool: string, read: () => Promise<T>, maxAgeMs = 0): Promise<T> {
  const known = readings.get(pool);
  if (known !== undefined && (known.at === UNDER_WAY || performance.now() - known.at < maxAgeMs)) return known.answer;
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
