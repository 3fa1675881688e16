import { Inject, Injectable } from '@nestjs/common';
import {
  CallStatus,
  type BulkCancelBody,
  type BulkEraseBody,
  type BulkReplayBody,
  type BulkResult,
  type CallFilter,
  type Principal,
} from '#contracts';
import type { CallQueries } from '../platform/call-queries.js';
import { toProblem } from '../platform/http/to-problem.js';
import { CALL_QUERIES } from '../platform/tokens.js';
import { CancelCallService } from './cancel-call.service.js';
import { EraseCallService } from './erase-call.service.js';
import { ReplayCallService } from './replay-call.service.js';

/** Calls that are changed at a time. */
const AT_ONCE = 32;

interface Selection {
  readonly filter: CallFilter;
  readonly dryRun: boolean;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/**
 * Does to all calls of a filter what the single routes do to one, newest first and a bounded number a request. A dry run
 * counts. Each call stands for itself: one that cannot be changed is named with its problem and stops no other.
 */
@Injectable()
export class BulkCallsService {
  constructor(
    @Inject(CALL_QUERIES) private readonly queries: CallQueries,
    private readonly cancelCall: CancelCallService,
    private readonly replayCall: ReplayCallService,
    private readonly eraseCall: EraseCallService,
  ) {}

  /** Of the calls that fit, those that have not ended. Safe to repeat. */
  cancel(principal: Principal, { reason, graceMs, ...selection }: BulkCancelBody): Promise<BulkResult> {
    return this.each(
      principal,
      selection,
      (status) => status !== 'ended',
      async (callId) => {
        await this.cancelCall.cancel(principal, callId, { graceMs, reason });
      },
    );
  }

  /** Of the calls that fit, those that have ended. With an idempotency key the same request runs none of them twice. */
  replay(principal: Principal, selection: BulkReplayBody, idempotencyKey: string | undefined): Promise<BulkResult> {
    return this.each(
      principal,
      selection,
      (status) => status === 'ended',
      async (callId) => {
        const key = idempotencyKey === undefined ? undefined : `${idempotencyKey}/${callId}`;
        await this.replayCall.replay(principal, callId, {}, { idempotencyKey: key });
      },
    );
  }

  /** Of the calls that fit, those that have ended. Safe to repeat. */
  async erase(principal: Principal, { reason, ...selection }: BulkEraseBody): Promise<BulkResult> {
    const retention = this.eraseCall.allowedFor(principal);
    const act = selection.dryRun ? undefined : this.eraseCall.admit(principal);
    return this.each(
      principal,
      selection,
      (status) => status === 'ended',
      async (callId) => {
        await this.eraseCall.erase(principal, callId, { reason }, retention, act);
      },
    );
  }

  private async each(
    { tenantId }: Principal,
    { filter, dryRun, limit, cursor }: Selection,
    applies: (status: CallStatus) => boolean,
    change: (callId: string) => Promise<void>,
  ): Promise<BulkResult> {
    const narrowed = { ...filter, status: (filter.status ?? CallStatus.options).filter(applies) };
    const nothing: BulkResult = { matched: 0, exact: true, done: 0, failed: [] };
    if (narrowed.status.length === 0) return nothing;
    const { count: matched, exact } = await this.queries.count(tenantId, narrowed);
    if (dryRun) return { ...nothing, matched, exact };
    const { calls, nextCursor } = await this.queries.page(tenantId, { ...narrowed, limit, ...(cursor === undefined ? {} : { cursor }) });
    const failed: BulkResult['failed'] = [];
    for (let at = 0; at < calls.length; at += AT_ONCE) {
      await Promise.all(
        calls.slice(at, at + AT_ONCE).map(async ({ id: callId }) => {
          try {
            await change(callId);
          } catch (error) {
            failed.push({ callId, problem: toProblem(error).toProblem() });
          }
        }),
      );
    }
    return { matched, exact, done: calls.length - failed.length, failed, ...(nextCursor === undefined ? {} : { cursor: nextCursor }) };
  }
}
