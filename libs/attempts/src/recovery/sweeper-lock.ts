import { keys, type RedisConnection } from '#redis';

/** Elects one worker for the sweeps. Only saves work: two sweepers are safe, and a lost one is replaced when its lock expires. */
export class SweeperLock {
  constructor(
    private readonly redis: RedisConnection,
    private readonly workerId: string,
    /** Milliseconds after which the lock of a lost worker expires. */
    readonly ttlMs: number,
  ) {}

  /** True if this worker sweeps now. Rejects while Redis is unreachable. */
  async tryAcquire(): Promise<boolean> {
    const reply = await this.redis.set(keys.sweeperLock(), this.workerId, 'PX', this.ttlMs, 'NX');
    if (reply === 'OK') return true;
    if ((await this.redis.get(keys.sweeperLock())) !== this.workerId) return false;
    return (await this.redis.pexpire(keys.sweeperLock(), this.ttlMs)) === 1;
  }

  /** Lets another worker sweep at once. Never rejects. */
  async release(): Promise<void> {
    try {
      if ((await this.redis.get(keys.sweeperLock())) === this.workerId) await this.redis.del(keys.sweeperLock());
    } catch {
      // The lock expires by itself.
    }
  }
}
