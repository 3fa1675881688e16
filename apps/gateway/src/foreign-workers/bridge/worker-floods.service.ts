import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import { FailurePauses } from '#timing';
import { FAIL_FAST_REDIS } from '../../platform/tokens.js';

type KeyOf = Pick<Principal, 'tenantId' | 'keyId'>;

/** Pauses of keys whose workers sent too much, shared with other gateways through Redis. By key, since a worker chooses its name. */
@Injectable()
export class WorkerFloods {
  private readonly pauses = new FailurePauses({ firstMs: 2_000, maxMs: 60_000, jitter: true });

  constructor(@Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection) {}

  /** Returns the length of the pause in ms. While Redis is unreachable the pause holds at this gateway only. */
  begin({ tenantId, keyId }: KeyOf): number {
    const pauseMs = this.pauses.begin(`${tenantId}/${keyId}`);
    void this.redis.set(keys.workerPause(tenantId, keyId), '', 'PX', Math.ceil(pauseMs)).catch(() => undefined);
    return pauseMs;
  }

  /** Milliseconds until the end of the pause; 0 without one. Never rejects. */
  async leftMs({ tenantId, keyId }: KeyOf): Promise<number> {
    const own = this.pauses.leftMs(`${tenantId}/${keyId}`);
    return own > 0 ? own : Math.max(0, await this.redis.pttl(keys.workerPause(tenantId, keyId)).catch(() => 0));
  }
}
