import { keys } from './keys.js';
import type { RedisConnection } from './redis-client.js';
import { sha256Hex } from './sha256-hex.js';

/** Longer than any call lives. */
const LIFE_SECONDS = 14 * 24 * 3600;

/**
 * Settings that a gateway hands to workers once, by their digest: a call carries the digest, so that it is run under what
 * was in force when it was accepted. A user of a set stores it again at least once a week.
 */
export class ContentAddressedStore {
  constructor(private readonly redis: RedisConnection) {}

  /** The digest of the text. Rejects while Redis is out of reach. */
  async put(text: string): Promise<string> {
    const digest = sha256Hex(text);
    await this.redis.set(keys.redactionSettings(digest), text, 'EX', LIFE_SECONDS);
    return digest;
  }

  /** Undefined when it was never stored, or has expired. */
  async get(digest: string): Promise<string | undefined> {
    return (await this.redis.get(keys.redactionSettings(digest))) ?? undefined;
  }
}
