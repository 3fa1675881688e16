import { Inject, Injectable } from '@nestjs/common';
import { CallStore, readPendingApprovals } from '#event-log';
import type { ApprovalsSample } from '#observability';
import { partitionNames, type RedisConnection } from '#redis';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';

/**
 * Number and age of pending approvals of all tenants, for operators. The event log changes their set together with the calls,
 * so each gateway reads the same numbers.
 */
@Injectable()
export class PendingApprovalsGauge {
  private readonly partitions: readonly string[];

  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    private readonly store: CallStore,
    @Inject(GATEWAY_CONFIG) { partitions }: GatewayConfig,
  ) {
    this.partitions = partitionNames(partitions);
  }

  async sample(): Promise<ApprovalsSample> {
    const { waiting, since } = await readPendingApprovals(this.redis, this.store, this.partitions);
    return { waiting, oldestMs: since === undefined ? 0 : Math.max(0, Date.now() - since) };
  }
}
