import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { CallStore } from '#event-log';
import { type ApprovalsSample, telemetry } from '#observability';
import { keys, type RedisConnection } from '#redis';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';

/** So many of the longest waiting are looked at; of more, those that were decided meanwhile count until it is their turn. */
const LOOKED_AT = 200;

/**
 * How many calls of all tenants wait for a person, and since when: for operators, not for decisions. Each gateway notes
 * the questions it asked; whoever reads the list strikes what waits no longer, so nothing else must be told. A note
 * that Redis did not take is missing from the number and from nothing else.
 */
@Injectable()
export class PendingApprovalsGauge implements OnModuleDestroy {
  private readonly stop: () => void;

  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    private readonly store: CallStore,
  ) {
    this.stop = telemetry.approvalRequested.on(({ callId }) => {
      this.redis.zadd(keys.approvals(), Date.now(), callId).catch(() => {});
    });
  }

  async sample(): Promise<ApprovalsSample> {
    const [oldest, all] = await Promise.all([
      this.redis.zrange(keys.approvals(), '0', String(LOOKED_AT - 1)),
      this.redis.zcard(keys.approvals()),
    ]);
    const heads = await Promise.all(oldest.map((callId) => this.store.snapshot(callId)));
    const over = oldest.filter((_callId, index) => heads[index]?.status !== 'waiting_approval');
    if (over.length > 0) await this.redis.zrem(keys.approvals(), ...over);
    const [first] = heads.filter((head) => head?.status === 'waiting_approval');
    return { waiting: all - over.length, oldestMs: first === undefined ? 0 : Math.max(0, Date.now() - first.submittedAt) };
  }

  onModuleDestroy(): void {
    this.stop();
  }
}
