import { LRUCache } from 'lru-cache';
import { HookSet, LIMITS } from '#contracts';
import { DigestCache, keys, sha256Hex, type RedisConnection } from '#redis';

/** Lifetime of a set: that of a call which is accepted at the end of `STORED_FOR_MS`, and some hours. */
const TTL_MS = LIMITS.totalMs + 86_400_000;
/** Time for which this process assumes that a set is stored. */
const STORED_FOR_MS = 3_600_000;
const CACHE_SIZE = 1_000;

/** Set to store: its digest, size in bytes and lifetime. */
export interface HookSnapshot {
  readonly digest: string;
  readonly bytes: number;
  readonly lifeMs: number;
}

/**
 * Hooks that workers run for calls, stored by digest: a call contains the digest, so that the hooks of its acceptance run,
 * independent of later reloads and of the worker.
 */
export class HookSnapshotStore {
  private readonly storedAt = new LRUCache<string, number>({ max: CACHE_SIZE });
  private readonly loaded: DigestCache<HookSet>;

  constructor(private readonly redis: RedisConnection) {
    this.loaded = new DigestCache(
      (digest) => redis.get(keys.hookSet(digest)),
      (json) => HookSet.parse(json),
      CACHE_SIZE,
    );
  }

  /**
   * Stores a set and returns its digest; writes once an hour and process. `admit` is called before a write and rejects if there is
   * no room. Rejects if a write is due while Redis is unreachable.
   */
  async save(set: HookSet, admit: (snapshot: HookSnapshot) => Promise<void> = async () => {}): Promise<string> {
    const text = JSON.stringify(set);
    const digest = sha256Hex(text);
    const at = this.storedAt.get(digest);
    if (at !== undefined && performance.now() - at < STORED_FOR_MS) return digest;
    await admit({ digest, bytes: Buffer.byteLength(text), lifeMs: TTL_MS });
    await this.redis.set(keys.hookSet(digest), text, 'PX', TTL_MS);
    this.storedAt.set(digest, performance.now());
    return digest;
  }

  /** Undefined if the set is not stored, or has expired. */
  load(digest: string): Promise<HookSet | undefined> {
    return this.loaded.get(digest);
  }
}
