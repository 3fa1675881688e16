import { keys } from './keys.js';
import type { RedisConnection } from './redis-client.js';
import { sha256Hex } from './sha256-hex.js';

/** Lifetime of a text, longer than that of any call. */
const LIFE_SECONDS = 14 * 24 * 3600;

/**
 * Settings for workers, by digest: a call contains the digest, so that it runs under the settings of its acceptance. The user
 * of a text stores it again at least once a week.
 */
export class ContentAddressedStore {
  constructor(private readonly redis: RedisConnection) {}

  /** Stores the text and returns its digest. Rejects while Redis is unreachable. */
  async put(text: string): Promise<string> {
    const digest = sha256Hex(text);
    await this.redis.set(keys.redactionSettings(digest), text, 'EX', LIFE_SECONDS);
    return digest;
  }

  /** Undefined if the text was never stored or has expired. */
  async get(digest: string): Promise<string | undefined> {
    return (await this.redis.get(keys.redactionSettings(digest))) ?? undefined;
  }
}
