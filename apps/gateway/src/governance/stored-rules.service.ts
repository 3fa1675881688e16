import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { PathDenials, type EgressRules, type FileAccess } from '#contracts';
import { addsDenials, type FileAccessDecision } from '#policy';
import { ContentAddressedStore, sha256Hex, type RedisConnection } from '#redis';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';

/** Time far below the life of stored settings. */
const STORED_FOR_MS = 24 * 3_600_000;
const MOST_REMEMBERED = 1_000;

/** Stores denied paths and egress rules of calls once per set, so that a call has a digest instead of lists. */
@Injectable()
export class StoredRules {
  private readonly store: Pick<ContentAddressedStore, 'get' | 'put'>;
  /** Digests stored by this process. */
  private readonly stored = new LRUCache<string, true>({ max: MOST_REMEMBERED, ttl: STORED_FOR_MS });

  constructor(@Inject(FAIL_FAST_REDIS) redis: RedisConnection) {
    this.store = new ContentAddressedStore(redis);
  }

  /** Returns the file access for the call. Rejects if denials have to be stored and Redis is unreachable: no worker could read them. */
  async keep({ denials, ...files }: FileAccessDecision): Promise<FileAccess> {
    return denials === undefined ? files : { ...files, denials: await this.digestOf(denials) };
  }

  /** Returns the digest for the call. Rejects if the rules have to be stored and Redis is unreachable. */
  keepEgress(rules: EgressRules): Promise<string> {
    return this.digestOf(rules);
  }

  /**
   * True if `now` may deny a path that the call's stored denials allow, or if these are no longer stored. Rejects while Redis
   * is unreachable and they have to be compared.
   */
  async haveGrown({ denials: digest }: FileAccess, now: PathDenials | undefined): Promise<boolean> {
    if (now === undefined || sha256Hex(JSON.stringify(now)) === digest) return false;
    const stored = digest === undefined ? undefined : await this.store.get(digest);
    return addsDenials(stored === undefined ? undefined : PathDenials.parse(JSON.parse(stored)), now);
  }

  private async digestOf(rules: PathDenials | EgressRules): Promise<string> {
    const text = JSON.stringify(rules);
    const digest = sha256Hex(text);
    if (this.stored.has(digest)) return digest;
    await this.store.put(text);
    this.stored.set(digest, true);
    return digest;
  }
}
