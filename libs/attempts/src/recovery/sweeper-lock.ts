import { keys, type RedisConnection } from '#redis';

/**
 * Lets one of all workers do the sweeps. It only saves work: two sweepers do no harm, and a lost one is replaced when
 * its lock expires.
 */
export class SweeperLock {
  constructor(
    private readonly redis: RedisConnection,
    private readonly workerId: string,
    private readonly ttlMs: number,
  ) {}

  /** Whether this worker sweeps now. Rejects when Redis is out of reach. */
  async tryAcquire(): Promise<boolean> {
    const taken = await this.redis.set(keys.sweeperLock(), this.workerId, 'PX', this.ttlMs, 'NX');
    if (taken === 'OK') return true;
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
