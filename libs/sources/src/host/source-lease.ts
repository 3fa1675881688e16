import { keys, type RedisConnection } from '#redis';
import { sourceKey, type SourceId } from '../source-id.js';

/** A worker that is gone is replaced after this time. */
const LEASE_MS = 5_000;

/**
 * Which worker reads the tools of a source for all. Two at once, as after a pause, do no harm: both announce what the
 * source says.
 */
export class SourceLease {
  private readonly key: string;

  constructor(
    private readonly redis: RedisConnection,
    source: SourceId,
    private readonly owner: string,
  ) {
    this.key = keys.sourceLease(sourceKey(source));
  }

  /** Takes or renews the lease; false when another worker holds it. Rejects when Redis is out of reach. */
  async hold(): Promise<boolean> {
    if ((await this.redis.set(this.key, this.owner, 'PX', LEASE_MS, 'NX')) === 'OK') return true;
    if ((await this.redis.get(this.key)) !== this.owner) return false;
    return (await this.redis.pexpire(this.key, LEASE_MS)) === 1;
  }

  async release(): Promise<void> {
    if ((await this.redis.get(this.key)) === this.owner) await this.redis.del(this.key);
  }
}
