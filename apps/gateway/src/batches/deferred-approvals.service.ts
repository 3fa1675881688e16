import { Injectable } from '@nestjs/common';
import { ProblemError, type Call } from '#contracts';
import type { DeferredApproval } from './batch-record.js';
import { BatchStore } from './batch-store.service.js';

/**
 * In a batch that is all or nothing, a yes waits until every question of the batch is answered: only then it is written to
 * the log and the call runs. A no needs no waiting; it ends its call, and with it the batch.
 */
@Injectable()
export class DeferredApprovals {
  constructor(private readonly store: BatchStore) {}

  /** True when the call belongs to such a batch that still goes on. */
  async mustDefer({ batchId }: Pick<Call, 'batchId'>): Promise<boolean> {
    if (batchId === undefined) return false;
    const batch = await this.store.load(batchId);
    return batch !== undefined && batch.doc.onFailure === 'abort' && batch.endedAt === undefined;
  }

  /** Keeps the yes; the call waits on. Throws `conflict` when somebody said yes before. */
  async defer({ id, batchId }: Pick<Call, 'id' | 'batchId'>, approval: DeferredApproval): Promise<void> {
    if (batchId !== undefined && (await this.store.saveDeferredApproval(batchId, id, approval))) return;
    throw new ProblemError('conflict', 'The call was approved before; it waits for the other answers of its batch', { callId: id });
  }
}
