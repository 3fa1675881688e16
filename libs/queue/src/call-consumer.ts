import { isNotConnectionError, Worker } from 'bullmq';
import { CallJob, type Pool } from '#contracts';
import { BatchingBackend } from './batching-backend.js';
import { workerBackend } from './bull-connection.js';
import { LOCK_MS, lockOf, queueOf, type QueueBackend } from './bull-settings.js';
import type { CallConsumer, StartConsumer } from './queue.port.js';

export interface CallConsumerOptions {
  readonly redisUrl: string;
  /** `batching` by default. */
  readonly backend?: QueueBackend;
  /** How long the jobs of a worker that fell silent are its own; best the lease of its calls. 30 s by default. */
  readonly lockMs?: number;
  /** Told what went wrong beside the handlers; warnings of the process by default. Lost connections are not told: they come back. */
  readonly onError?: (error: Error) => void;
}

/** How to consume a pool's queue on this Redis. */
export function startConsumer({ onError = warn, ...options }: CallConsumerOptions): StartConsumer {
  return (pool, concurrency, handler) => new BullCallConsumer(pool, concurrency, handler, options, onError);
}

/** One BullMQ Worker. A job is gone when its handler has returned, whatever the handler did. */
class BullCallConsumer implements CallConsumer {
  private readonly worker: Worker;
  private readonly report: (error: Error) => void;
  private closed: Promise<void> | undefined;
  running = 0;

  constructor(
    pool: Pool,
    concurrency: number,
    private readonly handler: (job: CallJob) => Promise<void>,
    { redisUrl, backend: kind = 'batching', lockMs = LOCK_MS }: CallConsumerOptions,
    onError: (error: Error) => void,
  ) {
    this.report = (error) => {
      if (!isConnectionTrouble(error)) onError(error);
    };
    const { name, prefix } = queueOf(pool);
    this.worker = new Worker(
      name,
      (job) => this.handle(job.data),
      { ...lockOf(lockMs), concurrency, connection: {}, autorun: false },
      workerBackend(redisUrl, kind, prefix),
    );
    this.worker.on('error', this.report);
    const backend = this.worker.getBackend();
    if (backend instanceof BatchingBackend) {
      backend.setSlots(concurrency);
      backend.setLock(lockMs);
      backend.on('ready', () => void backend.tidy().catch(this.report));
    }
    this.worker.run().catch(this.report);
  }

  setConcurrency(slots: number): void {
    this.worker.concurrency = slots;
    const backend = this.worker.getBackend();
    if (backend instanceof BatchingBackend) backend.setSlots(slots);
  }

  close(): Promise<void> {
    return (this.closed ??= this.drain());
  }

  private async drain(): Promise<void> {
    const backend = this.worker.getBackend();
    if (backend instanceof BatchingBackend) backend.stopFetchingAhead().catch(this.report);
    await this.worker.close();
  }

  private async handle(data: unknown): Promise<void> {
    this.running += 1;
    try {
      await this.handler(CallJob.parse(data));
    } catch (error) {
      this.report(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.running -= 1;
    }
  }
}

function warn(error: Error): void {
  process.emitWarning(error.message, { detail: error.stack ?? '' });
}

function isConnectionTrouble(error: Error): boolean {
  const lost = 'code' in error && typeof error.code === 'string' && /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENOENT)/.test(error.code);
  return lost || !isNotConnectionError(error);
}
