import { DrainRequest, type WorkerStatus } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import type { WorkerLog } from '../worker.logger.js';

const BEAT_MS = 2_000;
/** A worker that has not been seen for this long is gone. */
export const WORKER_TTL_MS = 10_000;

/** Tells the installation that this worker is there and what it does, for `GET /v1/workers`. */
export class WorkerRegistration {
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly redis: RedisConnection,
    private readonly status: () => WorkerStatus,
    private readonly logger: WorkerLog,
    /** Somebody wants this worker to take no more calls. */
    private readonly drainAsked: () => void,
  ) {}

  /** Resolves after the first beat, whether it was heard or not. What was asked of an earlier worker of this name is not meant for this one. */
  async start(): Promise<void> {
    await this.redis.del(keys.workerDrain(this.status().id)).catch(() => {});
    await this.beat();
    this.timer = setInterval(() => void this.beatAndListen(), BEAT_MS);
    this.timer.unref();
  }

  /** Now and not at the next beat, as when draining begins. Never rejects. */
  async beat(): Promise<void> {
    if (this.closed) return;
    const status = this.status();
    try {
      await Promise.all([
        this.redis.set(keys.worker(status.id), JSON.stringify(status), 'PX', WORKER_TTL_MS),
        this.redis.zadd(keys.workers(), Date.parse(status.seenAt), status.id),
        this.redis.zremrangebyscore(keys.workers(), 0, Date.parse(status.seenAt) - 60 * WORKER_TTL_MS),
      ]);
    } catch (error) {
      this.logger.debug({ err: error }, 'could not tell that this worker is alive');
    }
  }

  private async beatAndListen(): Promise<void> {
    await this.beat();
    const { id, draining } = this.status();
    if (draining || this.closed) return;
    const asked = await this.redis.get(keys.workerDrain(id)).catch(() => null);
    if (asked === null) return;
    const { actor, at } = DrainRequest.parse(JSON.parse(asked));
    this.logger.warn({ actor, at }, 'this worker takes no more calls, as it was asked to');
    this.drainAsked();
    await this.beat();
  }

  /** Takes this worker off the list. Idempotent. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    clearInterval(this.timer);
    const { id } = this.status();
    await Promise.allSettled([this.redis.del(keys.worker(id)), this.redis.del(keys.workerDrain(id)), this.redis.zrem(keys.workers(), id)]);
  }
}
