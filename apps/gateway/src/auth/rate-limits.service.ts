import { Inject, Injectable } from '@nestjs/common';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Principal } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import { signals } from '#signals';
import { PROMPT_REDIS } from '../tokens.js';

const WINDOW_SECONDS = 60;

export interface RateVerdict {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly windowSeconds: number;
  /** Until the window is over. */
  readonly resetMs: number;
}

/**
 * Requests a minute by key, counted in Redis so that all gateways share one count. While Redis is out of reach each
 * gateway counts by itself: nobody is locked out, and nobody is let through without a limit.
 */
@Injectable()
export class RateLimits {
  private readonly limiters = new Map<string, RateLimiterRedis>();

  constructor(@Inject(PROMPT_REDIS) private readonly redis: RedisConnection) {}

  /** Takes one request from the key's budget. Undefined for a key without a limit, which costs no round trip. */
  take(principal: Principal): Promise<RateVerdict> | undefined {
    return principal.ratePerMinute === undefined ? undefined : this.consume(principal.keyId, principal.ratePerMinute);
  }

  private async consume(keyId: string, limit: number): Promise<RateVerdict> {
    const taken = await this.limiter(keyId, limit)
      .consume(keys.rateLimit(keyId))
      .then(
        (counted) => ({ counted, allowed: true }),
        (refused: unknown) => {
          if (!(refused instanceof RateLimiterRes)) throw refused;
          return { counted: refused, allowed: false };
        },
      );
    if (!taken.allowed) signals.rateLimited.emit({ limit: 'key_requests' });
    const { remainingPoints, msBeforeNext } = taken.counted;
    return { allowed: taken.allowed, limit, remaining: remainingPoints, windowSeconds: WINDOW_SECONDS, resetMs: msBeforeNext };
  }

  private limiter(keyId: string, limit: number): RateLimiterRedis {
    let limiter = this.limiters.get(keyId);
    if (limiter === undefined) {
      const budget = { points: limit, duration: WINDOW_SECONDS, keyPrefix: '' };
      limiter = new RateLimiterRedis({ storeClient: this.redis, ...budget, insuranceLimiter: new RateLimiterMemory(budget) });
      this.limiters.set(keyId, limiter);
    }
    return limiter;
  }
}
