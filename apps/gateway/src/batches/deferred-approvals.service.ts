import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ProblemError, type Call } from '#contracts';
import { ApprovalDeferrals, type ApprovalDeferral, type DeferredApproval } from '../approvals/approval-deferrals.service.js';
import { BatchStore } from './batch-store.service.js';

/**
 * Defers approvals in a batch with `onFailure: abort` until every pending approval of the batch is decided; then they are
 * written to the log and the calls run. A denial is not deferred; it ends its call, and with it the batch.
 */
@Injectable()
export class DeferredApprovals implements ApprovalDeferral, OnModuleInit {
  constructor(
    private readonly store: BatchStore,
    private readonly deferrals: ApprovalDeferrals,
  ) {}

  onModuleInit(): void {
    this.deferrals.register(this);
  }

  /**
   * True if the call belongs to such a batch that has not ended.
   * @throws ProblemError `conflict` if it was approved before
   */
  async mustDefer({ id, batchId }: Pick<Call, 'id' | 'batchId'>): Promise<boolean> {
    if (batchId === undefined) return false;
    const batch = await this.store.load(batchId);
    if (batch === undefined || batch.doc.onFailure !== 'abort' || batch.endedAt !== undefined) return false;
    if (batch.deferred.has(id)) throw approvedBefore(id);
    return true;
  }

  /**
   * Stores the approval; the call continues to wait.
   * @throws ProblemError `conflict` if it was approved before
   */
  async defer({ id, batchId }: Pick<Call, 'id' | 'batchId'>, approval: DeferredApproval): Promise<void> {
    if (batchId !== undefined && (await this.store.saveDeferredApproval(batchId, id, approval))) return;
    throw approvedBefore(id);
  }

  async deferredEdit({ id, batchId }: Pick<Call, 'id' | 'batchId'>): Promise<string | undefined> {
    const batch = batchId === undefined ? undefined : await this.store.load(batchId);
    return batch?.deferred.get(id)?.edited?.argumentsDigest;
  }
}

function approvedBefore(callId: string): ProblemError {
  return new ProblemError('conflict', 'The call was approved before; it waits for the other answers of its batch', { callId });
}
