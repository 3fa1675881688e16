import { isNotConnectionError, Worker } from 'bullmq';
import { CallJob } from '#contracts';
import { BatchingWorkerBackend } from './batching-worker.js';
import { workerBackend, type WorkerClients } from './bull-connection.js';
import { IDLE_POLL_S, LOCK_MS, lockOptions, queueName, workerClientName, type QueueBackend } from './bull-settings.js';
import { createRedis, type RedisConnection } from '#redis';
import type { DequeueHook } from './dequeue-hook.js';
import type { CallConsumer, CallHandler, StartConsumer } from './queue.port.js';

export interface CallConsumerOptions {
  readonly redisUrl: string;
  /** Name in tools for BullMQ; default: the process id. */
  readonly workerName?: string;
  /** `batching` by default. */
  readonly backend?: QueueBackend;
  /** Lock of the jobs of a silent worker; best the lease of its calls. Default 30 s. */
  readonly lockMs?: number;
  /** Hook for dequeued jobs. The stock backend ignores it; not on a cluster. */
  readonly dequeueHook?: DequeueHook;
  /**
   * Connection to dequeue and complete jobs, best that of the log: the last write of a handler is then sent together with the
   * completion of its job. The caller closes it. By default the consumer opens one.
   */
  readonly connection?: RedisConnection;
  /**
   * Called with errors outside of the handlers; by default they become process warnings. Lost connections are restored and not
   * reported.
   */
  readonly onError?: (error: Error) => void;
}

/** Makes the function that consumes the queue of a pool on this Redis. */
export function startConsumer({ onError = warn, ...options }: CallConsumerOptions): StartConsumer {
  return (pool, concurrency, handler) => new BullCallConsumer(pool, concurrency, handler, options, onError);
}

/** Consumer with one BullMQ Worker. A job is deleted after its handler returned, whatever the handler did. */
class BullCallConsumer implements CallConsumer {
  private readonly worker: Worker;
  private readonly report: (error: Error) => void;
  private unwatch: readonly (() => void)[] = [];
  private closed: Promise<void> | undefined;
  running = 0;

  constructor(
    pool: string,
    concurrency: number,
    private readonly handler: CallHandler,
    { redisUrl, backend: kind = 'batching', lockMs = LOCK_MS, connection, dequeueHook, workerName }: CallConsumerOptions,
    onError: (error: Error) => void,
  ) {
    this.report = (error) => {
      if (!isConnectionTrouble(error)) onError(error);
    };
    const { name, prefix } = queueName(pool);
    const clientName = workerClientName(pool, workerName ?? String(process.pid));
    const clients: WorkerClients = {
      command: connection ?? createRedis(redisUrl, { role: 'command', name: 'queue-worker' }),
      blocking: createRedis(redisUrl, { role: 'blocking', name: 'queue-worker-wait', clientName }),
      commandIsShared: connection !== undefined,
    };
    const claims = kind === 'batching' && dequeueHook !== undefined && !clients.command.isCluster;
    const subscriber = claims ? createRedis(redisUrl, { role: 'subscriber', name: 'queue-worker-hand' }) : undefined;
    const claiming = dequeueHook && subscriber && { hook: dequeueHook, subscriber, report: this.report };
    const opened = [clients.blocking, ...(subscriber ? [subscriber] : [])];
    this.worker = new Worker(
      name,
      (job) => this.handle(job.id ?? '', job.data),
      { ...lockOptions(lockMs), drainDelay: IDLE_POLL_S, concurrency, connection: {}, autorun: false },
      workerBackend(clients, prefix, kind === 'batching' ? { slots: concurrency, lockMs, claiming } : undefined),
    );
    this.worker.on('error', this.report);
    const backend = this.worker.getBackend();
    if (backend instanceof BatchingWorkerBackend) {
      const resync = () => void backend.resync().catch(this.report);
      this.unwatch = [clients.command, ...opened].map((watched) => onReconnect(watched, resync));
    }
    this.worker.run().catch(this.report);
  }

  setConcurrency(slots: number): void {
    this.worker.concurrency = slots;
    const backend = this.worker.getBackend();
    if (backend instanceof BatchingWorkerBackend) backend.setSlots(slots).catch(this.report);
  }

  close(): Promise<void> {
    return (this.closed ??= this.drain());
  }

  private async drain(): Promise<void> {
    const backend = this.worker.getBackend();
    const prefetchedRuns = backend instanceof BatchingWorkerBackend ? this.runPrefetched(backend) : undefined;
    await this.worker.close();
    await prefetchedRuns;
    for (const stop of this.unwatch) stop();
  }

  /** Runs jobs that have begun and whose loops have stopped. */
  private async runPrefetched(backend: BatchingWorkerBackend): Promise<void> {
    try {
      const jobs = await backend.stopPrefetching();
      await Promise.all(
        jobs.map(async (job) => {
          await this.handle(job.id, JSON.parse(job.data));
          await backend.complete(job.id);
        }),
      );
    } catch (error) {
      this.report(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private async handle(id: string, data: unknown): Promise<void> {
    const backend = this.worker.getBackend();
    const dequeued = backend instanceof BatchingWorkerBackend ? backend.takeClaimResult(id) : undefined;
    this.running += 1;
    try {
      await this.handler(CallJob.parse(data), dequeued);
    } catch (error) {
      this.report(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.running -= 1;
    }
  }
}

/** Calls the listener on each connection but the first, before which nothing can have been lost. Returns a function that stops it. */
function onReconnect(client: RedisConnection, listener: () => void): () => void {
  let connected = client.status === 'ready';
  const ready = () => {
    if (connected) listener();
    connected = true;
  };
  client.on('ready', ready);
  return () => client.off('ready', ready);
}

function warn(error: Error): void {
  process.emitWarning(error.message, { detail: error.stack ?? '' });
}

function isConnectionTrouble(error: Error): boolean {
  const lost = 'code' in error && typeof error.code === 'string' && /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENOENT)/.test(error.code);
  const inFailover = /^(All sentinels|READONLY|UNBLOCKED|LOADING|MASTERDOWN|CLUSTERDOWN)\b/.test(error.message);
  return lost || inFailover || !isNotConnectionError(error);
}
