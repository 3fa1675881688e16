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

/** Most calls changed concurrently. */
const AT_ONCE = 32;

interface Selection {
  readonly filter: CallFilter;
  readonly dryRun: boolean;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/**
 * Applies a change of a single call to all calls of a filter, newest first, a bounded number per request. A dry run counts. A
 * call that cannot be changed is listed with its problem and does not stop the others.
 */
@Injectable()
export class BulkCallsService {
  constructor(
    @Inject(CALL_QUERIES) private readonly queries: CallQueries,
    private readonly cancelCall: CancelCallService,
    private readonly replayCall: ReplayCallService,
    private readonly eraseCall: EraseCallService,
  ) {}

  /** Cancels matching calls that have not ended. Safe to repeat. */
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

  /** Replays matching calls that have ended. With an idempotency key, a repeated request replays none twice. */
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

  /** Erases matching calls that have ended. Safe to repeat. */
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
