import { LRUCache } from 'lru-cache';
import { HookSet } from '#contracts';
import { keys, sha256Hex, type RedisConnection } from '#redis';

/** Longer than any call may take. */
const TTL_MS = 30 * 86_400_000;
/** How long this process takes it for granted that a set is stored. */
const STORED_FOR_MS = 3_600_000;
const CACHE_SIZE = 1_000;

/**
 * The hooks that workers run for calls, stored once by their digest: a call carries the digest, so that what was in force
 * when it was accepted is what runs, whatever was reloaded since and wherever the worker is.
 */
export class HookSnapshotStore {
  private readonly storedAt = new LRUCache<string, number>({ max: CACHE_SIZE });
  private readonly loaded = new LRUCache<string, HookSet>({ max: CACHE_SIZE });

  constructor(private readonly redis: RedisConnection) {}

  /** Its digest; one write an hour and process for the same set. Rejects while Redis is out of reach and has to be asked. */
  async save(set: HookSet): Promise<string> {
    const text = JSON.stringify(set);
    const digest = sha256Hex(text);
    const at = this.storedAt.get(digest);
    if (at !== undefined && performance.now() - at < STORED_FOR_MS) return digest;
    await this.redis.set(keys.hookSet(digest), text, 'PX', TTL_MS);
    this.storedAt.set(digest, performance.now());
    return digest;
  }

  /** Undefined when it is not stored (any more). */
  async load(digest: string): Promise<HookSet | undefined> {
    const known = this.loaded.get(digest);
    if (known !== undefined) return known;
    const text = await this.redis.get(keys.hookSet(digest));
    if (text === null) return undefined;
    const set = HookSet.parse(JSON.parse(text));
    this.loaded.set(digest, set);
    return set;
  }
}
