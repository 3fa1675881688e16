import { Inject, Injectable } from '@nestjs/common';
import type { ApprovalPage, Call, ListApprovalsQuery, Principal } from '#contracts';
import { CallStore, listPendingApprovals, listPendingApprovalsByRisk } from '#event-log';
import { partitionNames, type RedisConnection } from '#redis';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';

/** Lists calls of a tenant that wait for a person. Reads Redis only, so that people can decide while the history is unavailable. */
@Injectable()
export class ListApprovalsService {
  private readonly partitions: readonly string[];

  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    private readonly store: CallStore,
    @Inject(GATEWAY_CONFIG) { partitions }: GatewayConfig,
  ) {
    this.partitions = partitionNames(partitions);
  }

  /** Whole calls, newest first or by risk, with the approval request and its trust options. */
  async list({ tenantId }: Principal, query: ListApprovalsQuery): Promise<ApprovalPage> {
    const { callIds, nextCursor } = await (query.sort === 'risk'
      ? listPendingApprovalsByRisk(this.redis, this.store, this.partitions, tenantId, query)
      : listPendingApprovals(this.redis, this.partitions, tenantId, query));
    const whole = await this.store.readSummaries(callIds);
    const isWanted = ({ status, risk }: Call) =>
      status === 'waiting_approval' && (query.risk === undefined || (risk !== undefined && query.risk.includes(risk)));
    const calls = whole.filter((call) => call !== undefined).filter(isWanted);
    return { calls, ...(nextCursor === undefined ? {} : { nextCursor }) };
  }
}
