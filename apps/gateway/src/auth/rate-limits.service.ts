import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Principal } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import { telemetry } from '#observability';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';
import { TokenBucket } from './token-bucket.js';
import { issuerOfKeyId } from './tokens/token-principal.js';

const WINDOW_SECONDS = 60;
const MAX_SUBJECTS = 100_000;

export interface RateLimitResult {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly windowSeconds: number;
  /** Milliseconds until the window ends. */
  readonly resetMs: number;
}

/**
 * Limits the requests per minute of each key. A key with a limit of its own (`ratePerMinute`) is counted in Redis, and all
 * gateways share the count; while Redis is unreachable each gateway counts alone. For any other key each gateway allows
 * KEY_RATE_PER_MINUTE, counted in memory without a round trip, spread over the minute after a burst.
 */
@Injectable()
export class RateLimits {
  /** Limiters by limit. */
  private readonly limiters = new Map<number, RateLimiterRedis>();
  /** Buckets of keys without a limit of their own; a change of the config creates new principals and so new buckets. */
  private readonly buckets = new WeakMap<Principal, TokenBucket>();
  /** Buckets by subject, shared by all its tokens. */
  private readonly ofSubjects = new LRUCache<string, TokenBucket>({ max: MAX_SUBJECTS });

  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'keyRatePerMinute'>,
  ) {}

  /** Takes one request from the key's budget. Undefined for a key without a limit of its own that is within the default. */
  take(principal: Principal): Promise<RateLimitResult> | undefined {
    if (principal.ratePerMinute !== undefined) return this.consume(counted(principal), principal.ratePerMinute);
    const limit = this.config.keyRatePerMinute;
    if (this.bucketOf(principal, limit).take()) return undefined;
    telemetry.rateLimited.emit({ limit: 'key_requests' });
    return Promise.resolve({ allowed: false, limit, remaining: 0, windowSeconds: WINDOW_SECONDS, resetMs: Math.ceil(60_000 / limit) });
  }

  private bucketOf(principal: Principal, limit: number): TokenBucket {
    let bucket = this.buckets.get(principal);
    if (bucket === undefined) this.buckets.set(principal, (bucket = this.newBucket(principal, limit)));
    return bucket;
  }

  private newBucket(principal: Principal, limit: number): TokenBucket {
    const fresh = () => new TokenBucket(limit, limit / WINDOW_SECONDS);
    if (issuerOfKeyId(principal.keyId) === undefined) return fresh();
    const subject = counted(principal);
    const bucket = this.ofSubjects.get(subject) ?? fresh();
    this.ofSubjects.set(subject, bucket);
    return bucket;
  }

  private async consume(id: string, limit: number): Promise<RateLimitResult> {
    const consumption = await this.limiter(limit)
      .consume(keys.rateLimit(id))
      .then(
        (counted) => ({ counted, allowed: true }),
        (refused: unknown) => {
          if (!(refused instanceof RateLimiterRes)) throw refused;
          return { counted: refused, allowed: false };
        },
      );
    if (!consumption.allowed) telemetry.rateLimited.emit({ limit: 'key_requests' });
    const { remainingPoints, msBeforeNext } = consumption.counted;
    return { allowed: consumption.allowed, limit, remaining: remainingPoints, windowSeconds: WINDOW_SECONDS, resetMs: msBeforeNext };
  }

  private limiter(points: number): RateLimiterRedis {
    let limiter = this.limiters.get(points);
    if (limiter === undefined) {
      const budget = { points, duration: WINDOW_SECONDS, keyPrefix: '' };
      limiter = new RateLimiterRedis({ storeClient: this.redis, ...budget, insuranceLimiter: new RateLimiterMemory(budget) });
      this.limiters.set(points, limiter);
    }
    return limiter;
  }
}

/** Id of the budget. Includes the tenant for tokens: an issuer may serve many tenants with equal subject names. */
function counted({ keyId, tenantId }: Principal): string {
  return issuerOfKeyId(keyId) === undefined ? keyId : `${tenantId} ${keyId}`;
}
