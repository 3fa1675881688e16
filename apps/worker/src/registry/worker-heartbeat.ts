import { setTimeout as sleep } from 'node:timers/promises';
import { workerOrigin } from '#attempts';
import { DrainRequest, type NoticeData, type WorkerNoticeType, type WorkerStatus } from '#contracts';
import type { SystemEventLog } from '#event-log';
import { keys, redisNow, type RedisConnection } from '#redis';
import { everyMs, type Ticker } from '#timing';
import type { WorkerLog } from '../platform/worker.logger.js';

const HEARTBEAT_MS = 2_000;
/** Heartbeats until one renews the place in the list, from which workers of ten minutes ago are removed. */
const LIST_EVERY = 15;
/** Time without a heartbeat after which a worker counts as gone. */
export const WORKER_TTL_MS = 10_000;

/** Registers this worker and its state for `GET /v1/workers`. */
export class WorkerHeartbeat {
  private ticker: Ticker | undefined;
  private closed = false;
  private beats = 0;
  private drainAnnounced = false;

  constructor(
    private readonly redis: RedisConnection,
    private readonly notices: Pick<SystemEventLog, 'ofWorker'>,
    private readonly status: () => WorkerStatus,
    private readonly logger: WorkerLog,
    /** Called when a request to drain this worker arrives. */
    private readonly onDrainRequested: () => void,
  ) {}

  /** Resolves after the first heartbeat, even a failed one. Deletes a drain request for an earlier worker of this name. */
  async start(): Promise<void> {
    await this.redis.del(keys.workerDrain(this.status().id)).catch(() => {});
    await this.beat();
    // A heartbeat that waits for a node of a cluster that is down does not delay the next one to other nodes.
    this.ticker = everyMs(HEARTBEAT_MS, () => Promise.race([this.beatAndCheckDrain(), sleep(HEARTBEAT_MS, undefined, { ref: false })]));
  }

  /** Sends a heartbeat now, for example at the start of a drain. Never rejects. */
  async beat(): Promise<void> {
    if (!this.closed) await this.send(this.status());
  }

  private async send(status: WorkerStatus): Promise<void> {
    try {
      const before = await this.redis.set(keys.worker(status.id), JSON.stringify(status), 'PX', WORKER_TTL_MS, 'GET');
      if (before === null || this.beats++ % LIST_EVERY === 0) await this.list(status.id);
      // Announces at the first heartbeat, and at one so late that this worker may have been announced as gone.
      if (before === null) await this.announce('worker.started', { pools: status.pools.map(({ pool, slots }) => ({ pool, slots })) });
      if (status.draining && !this.drainAnnounced) {
        this.drainAnnounced = true;
        await this.announce('worker.draining', { running: status.pools.reduce((sum, { running }) => sum + running, 0) });
      }
    } catch (error) {
      this.logger.debug({ err: error }, 'a heartbeat of this worker failed');
    }
  }

  /** Uses the clock of Redis: a worker whose own clock is ahead would remove all others from the list. */
  private async list(id: string): Promise<void> {
    const now = await redisNow(this.redis);
    await Promise.all([this.redis.zadd(keys.workers(), now, id), this.redis.zremrangebyscore(keys.workers(), 0, now - 60 * WORKER_TTL_MS)]);
  }

  private async beatAndCheckDrain(): Promise<void> {
    if (this.closed) return;
    const status = this.status();
    await this.send(status);
    const { id, draining } = status;
    if (draining || this.closed) return;
    const requestText = await this.redis.get(keys.workerDrain(id)).catch(() => null);
    if (requestText === null) return;
    const request = parseDrainRequest(requestText);
    if (request === undefined) {
      this.logger.error(
        { request: requestText.slice(0, 200) },
        'a request to drain is malformed and ignored; expected JSON with `actor` and `at`',
      );
      await this.redis.del(keys.workerDrain(id)).catch(() => {});
      return;
    }
    const { actor, at } = request;
    this.logger.warn({ actor, at }, 'drain requested: this worker accepts no more calls');
    this.onDrainRequested();
    await this.beat();
  }

  /** Removes this worker from the list. Idempotent. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.ticker?.unsubscribe();
    const { id } = this.status();
    await this.announce('worker.gone', { how: 'stopped' });
    await Promise.allSettled([this.redis.del(keys.worker(id)), this.redis.del(keys.workerDrain(id)), this.redis.zrem(keys.workers(), id)]);
  }

  /** Writes an event for watchers of workers. The list of workers is authoritative. Never rejects. */
  private async announce<T extends WorkerNoticeType>(type: T, data: NoticeData<T>): Promise<void> {
    const { id } = this.status();
    try {
      await this.notices.ofWorker(id, type, data, workerOrigin(id));
    } catch (error) {
      this.logger.debug({ err: error, type }, 'an event of this worker could not be written');
    }
  }
}

/** Undefined for a malformed text or a newer format. */
function parseDrainRequest(text: string): DrainRequest | undefined {
  try {
    return DrainRequest.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
