import { Inject, Injectable } from '@nestjs/common';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Principal } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import { telemetry } from '#observability';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';
import { TokenBucket } from './token-bucket.js';

const WINDOW_SECONDS = 60;

export interface RateLimitResult {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly windowSeconds: number;
  /** Until the window is over. */
  readonly resetMs: number;
}

/**
 * Requests a minute by key. A key with a limit of its own (`ratePerMinute`) is counted in Redis, so that all gateways share
 * one count; while Redis is out of reach each gateway counts by itself. For any other key each gateway counts to
 * KEY_RATE_PER_MINUTE in memory, which costs a request no round trip; it is spread over the minute after a burst.
 */
@Injectable()
export class RateLimits {
  private readonly limiters = new Map<string, RateLimiterRedis>();
  /** Of keys without a limit of their own, as long as the config is the same. */
  private readonly buckets = new WeakMap<Principal, TokenBucket>();

  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'keyRatePerMinute'>,
  ) {}

  /** Takes one request from the key's budget. Undefined for a key without a limit of its own that is within the default. */
  take(principal: Principal): Promise<RateLimitResult> | undefined {
    if (principal.ratePerMinute !== undefined) return this.consume(principal.keyId, principal.ratePerMinute);
    const limit = this.config.keyRatePerMinute;
    if (this.bucketOf(principal, limit).take()) return undefined;
    telemetry.rateLimited.emit({ limit: 'key_requests' });
    return Promise.resolve({ allowed: false, limit, remaining: 0, windowSeconds: WINDOW_SECONDS, resetMs: Math.ceil(60_000 / limit) });
  }

  private bucketOf(principal: Principal, limit: number): TokenBucket {
    let bucket = this.buckets.get(principal);
    if (bucket === undefined) this.buckets.set(principal, (bucket = new TokenBucket(limit, limit / WINDOW_SECONDS)));
    return bucket;
  }

  private async consume(keyId: string, limit: number): Promise<RateLimitResult> {
    const taken = await this.limiter(keyId, limit)
      .consume(keys.rateLimit(keyId))
      .then(
        (counted) => ({ counted, allowed: true }),
        (refused: unknown) => {
          if (!(refused instanceof RateLimiterRes)) throw refused;
          return { counted: refused, allowed: false };
        },
      );
    if (!taken.allowed) telemetry.rateLimited.emit({ limit: 'key_requests' });
    const { remainingPoints, msBeforeNext } = taken.counted;
    return { allowed: taken.allowed, limit, remaining: remainingPoints, windowSeconds: WINDOW_SECONDS, resetMs: msBeforeNext };
  }

  private limiter(keyId: string, limit: number): RateLimiterRedis {
    let limiter = this.limiters.get(keyId);
    if (limiter?.points !== limit) {
      const budget = { points: limit, duration: WINDOW_SECONDS, keyPrefix: '' };
      limiter = new RateLimiterRedis({ storeClient: this.redis, ...budget, insuranceLimiter: new RateLimiterMemory(budget) });
      this.limiters.set(keyId, limiter);
    }
    return limiter;
  }
}
