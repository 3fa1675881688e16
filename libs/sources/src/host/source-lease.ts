import { keys, type RedisConnection } from '#redis';
import { sourceKey, type SourceId } from '../source-id.js';

/** A worker that is gone is replaced after this time. */
const LEASE_MS = 5_000;
/** Suffix of the owner in the lease: another worker was notified of a change of the tools. */
const CHANGED = ' changed';

/**
 * Lease of the worker that reads the tools of a source for all. Two holders at once, as after a pause, do no harm: both
 * announce the list of the source.
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

  /**
   * Takes or renews the lease; undefined when another worker holds it. `changed` says that another worker called
   * `tellHolder` since the last time. Rejects when Redis is out of reach.
   */
  async hold(): Promise<{ readonly changed: boolean } | undefined> {
    const { key, owner, redis } = this;
    if ((await redis.set(key, owner, 'PX', LEASE_MS, 'NX')) === 'OK') return { changed: false };
    const held = await redis.get(key);
    const changed = held === owner + CHANGED;
    if (changed) return (await redis.set(key, owner, 'PX', LEASE_MS, 'XX')) === 'OK' ? { changed } : undefined;
    return held === owner && (await redis.pexpire(key, LEASE_MS)) === 1 ? { changed } : undefined;
  }

  /** Has the worker that holds the lease read the tools. A server may say only to the caller of a tool that they changed. */
  async tellHolder(): Promise<void> {
    const holder = await this.redis.get(this.key);
    if (holder === null || holder === this.owner || holder.endsWith(CHANGED)) return;
    await this.redis.set(this.key, holder + CHANGED, 'KEEPTTL', 'XX');
  }

  async release(): Promise<void> {
    const held = await this.redis.get(this.key);
    if (held === this.owner || held === this.owner + CHANGED) await this.redis.del(this.key);
  }
}
