import { Injectable } from '@nestjs/common';
import { ApprovalDecidedData, type Call } from '#contracts';
import { z } from 'zod';

/** An approval that is kept until other approvals are known. */
export const DeferredApproval = ApprovalDecidedData.omit({ decision: true }).extend({
  actor: z.string(),
  actorname: z.string().optional(),
});
export type DeferredApproval = z.output<typeof DeferredApproval>;

export interface ApprovalDeferral {
  /** Whether an approval of this call must wait. Rejects with `conflict` when one waits. */
  mustDefer(call: Pick<Call, 'id' | 'batchId'>): Promise<boolean>;
  /** Keeps the approval; the call goes on waiting. Rejects with `conflict` when it was approved before. */
  defer(call: Pick<Call, 'id' | 'batchId'>, approval: DeferredApproval): Promise<void>;
}

/** Lets batches, which import this feature, defer approvals: they register here at the start. Without one nothing is deferred. */
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
}
