import { Queue, type RedisQueueBackend } from 'bullmq';
import type { CallJob, Pool, Priority } from '#contracts';
import { createRedis, type RedisConnection } from '#redis';
import { producerBackend } from './bull-connection.js';
import { JOB_NAME, JOB_OPTIONS, PRIORITY, queueOf, type QueueBackend } from './bull-settings.js';
import type { CallQueue, PoolDepth } from './queue.port.js';

export interface CallQueueOptions {
  readonly redisUrl: string;
  /** `batching` by default. */
  readonly backend?: QueueBackend;
}

/** How long the first dispatches wait for the first connection; later ones fail at once while Redis is away. */
const FIRST_CONNECTION_MS = 2000;

/** BullMQ queues, one a pool, on one connection. A dispatch that fails does no harm: the log's timers dispatch again. */
export class BullCallQueue implements CallQueue {
  private readonly client: RedisConnection;
  private readonly connected: Promise<void>;
  private readonly openQueue: (pool: Pool) => CallsQueue;
  private readonly queues = new Map<Pool, CallsQueue>();
  private closed: Promise<void> | undefined;

  constructor({ redisUrl, backend = 'batching' }: CallQueueOptions) {
    this.client = createRedis(redisUrl, { role: 'producer', name: 'queue' });
    this.connected = firstConnection(this.client);
    this.openQueue = (pool) => {
      const { name, prefix } = queueOf(pool);
      const queue: CallsQueue = new Queue(name, { connection: {}, streams: { events: { maxLen: 100 } } }, producerBackend(this.client, backend, prefix));
      // Connection errors come out of each dispatch too, and an error event nobody listens to is printed.
      queue.on('error', () => {});
      return queue;
    };
  }

  async dispatch(pool: Pool, job: CallJob, priority: Priority): Promise<void> {
    await this.connected;
    const jobId = `${job.callId}-${job.attempt}`;
    await this.queueFor(pool).add(JOB_NAME, job, { ...JOB_OPTIONS, jobId, priority: PRIORITY[priority] });
  }

  async depth(pool: Pool): Promise<PoolDepth> {
    await this.connected;
    const backend = this.queueFor(pool).getBackend();
    const [waiting = 0, prioritized = 0, active = 0] = await backend.getCounts(['wait', 'prioritized', 'active']);
    return { pool, waiting: waiting + prioritized, active, oldestWaitingMs: await this.oldestWaitingMs(backend) };
  }

  close(): Promise<void> {
    return (this.closed ??= this.shutDown());
  }

  private queueFor(pool: Pool): CallsQueue {
    if (this.closed) throw new Error('The queue is closed.');
    let queue = this.queues.get(pool);
    if (!queue) this.queues.set(pool, (queue = this.openQueue(pool)));
    return queue;
  }

  /** The job that was added first stands first within its priority, or last in the list of jobs that were given back. */
  private async oldestWaitingMs(backend: RedisQueueBackend): Promise<number> {
    const { wait = '', prioritized = '' } = backend.keys;
    const firsts = await Promise.all([
      this.client.lindex(wait, -1),
      ...Object.values(PRIORITY).map(async (priority) => {
        const [first] = await this.client.zrangebyscore(prioritized, priority * 2 ** 32, `(${(priority + 1) * 2 ** 32}`, 'LIMIT', 0, 1);
        return first;
      }),
    ]);
    const ids = firsts.filter((id) => typeof id === 'string');
    const times = await Promise.all(ids.map((id) => this.client.hget(backend.toKey(id), 'timestamp')));
    return times.reduce((oldest, time) => (time === null ? oldest : Math.max(oldest, Date.now() - Number(time))), 0);
  }

  private async shutDown(): Promise<void> {
    await Promise.allSettled([...this.queues.values()].map((queue) => queue.close()));
    this.client.disconnect();
  }
}

type CallsQueue = Queue<CallJob, void, typeof JOB_NAME>;

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
