import { LRUCache } from 'lru-cache';
import { HookSet } from '#contracts';
import { DigestCache, keys, sha256Hex, type RedisConnection } from '#redis';

/** Lifetime of a set, longer than that of any call. */
const TTL_MS = 30 * 86_400_000;
/** Time for which this process assumes that a set is stored. */
const STORED_FOR_MS = 3_600_000;
const CACHE_SIZE = 1_000;

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

  /** Stores a set and returns its digest; writes once an hour and process. Rejects if a write is due while Redis is unreachable. */
  async save(set: HookSet): Promise<string> {
    const text = JSON.stringify(set);
    const digest = sha256Hex(text);
    const at = this.storedAt.get(digest);
    if (at !== undefined && performance.now() - at < STORED_FOR_MS) return digest;
    await this.redis.set(keys.hookSet(digest), text, 'PX', TTL_MS);
    this.storedAt.set(digest, performance.now());
    return digest;
  }

  /** Undefined if the set is not stored, or has expired. */
  load(digest: string): Promise<HookSet | undefined> {
    return this.loaded.get(digest);
  }
}
