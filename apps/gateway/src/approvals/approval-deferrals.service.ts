import { Injectable } from '@nestjs/common';
import { ApprovalDecidedData, type Call } from '#contracts';
import { z } from 'zod';

/** Approval that is stored until the other approvals of its batch are decided. */
export const DeferredApproval = ApprovalDecidedData.omit({ decision: true }).extend({
  actor: z.string(),
  actorname: z.string().optional(),
});
export type DeferredApproval = z.output<typeof DeferredApproval>;

export interface ApprovalDeferral {
  /** True if an approval of this call must wait. Rejects with `conflict` if one waits already. */
  mustDefer(call: Pick<Call, 'id' | 'batchId'>): Promise<boolean>;
  /** Stores the approval; the call continues to wait. Rejects with `conflict` if it was approved before. */
  defer(call: Pick<Call, 'id' | 'batchId'>, approval: DeferredApproval): Promise<void>;
  /** Digest of the edited arguments of the stored approval of a call; undefined without edits or approval. */
  deferredEdit(call: Pick<Call, 'id' | 'batchId'>): Promise<string | undefined>;
}

/** Registry through which batches, which import this feature, defer approvals. Without a registration nothing is deferred. */
@Injectable()
export class ApprovalDeferrals implements ApprovalDeferral {
  private deferral: ApprovalDeferral | undefined;

  register(deferral: ApprovalDeferral): void {
    if (this.deferral !== undefined) throw new Error('Two features defer approvals; expected one');
    this.deferral = deferral;
  }

  async mustDefer(call: Pick<Call, 'id' | 'batchId'>): Promise<boolean> {
    return (await this.deferral?.mustDefer(call)) ?? false;
  }

  async defer(call: Pick<Call, 'id' | 'batchId'>, approval: DeferredApproval): Promise<void> {
    await this.deferral?.defer(call, approval);
  }

  async deferredEdit(call: Pick<Call, 'id' | 'batchId'>): Promise<string | undefined> {
    return this.deferral?.deferredEdit(call);
  }
}
