import { Injectable } from '@nestjs/common';
import { EventLog, EventLogTenantFull, type AcceptAnswer } from '#event-log';
import { BullCallQueue } from '#queue';
import { acceptedCall } from './accepted-call.js';
import { ChildCallService } from './child-call.service.js';
import { dispatchCall } from './dispatch-call.js';
import type { AdmissionStage, Submission } from './submission.js';

/**
 * Writes the call to the log, which makes it durable: queued, waiting for approval, or ended by its rejection. Then dispatches
 * it. The dispatch is not awaited: the log's timers repeat a lost one. Dispatch commands go to Redis right behind the accept,
 * unless only the log's answer shows whether the call is new and queued.
 */
@Injectable()
export class AcceptStage implements AdmissionStage {
  readonly name = 'accept';
  readonly isAlwaysTraced = true;
  /** Tenants whose last call the log refused. Their next call is dispatched only after the log has accepted it. */
  private readonly full = new Set<string>();

  constructor(
    private readonly log: EventLog,
    private readonly queue: BullCallQueue,
    private readonly children: ChildCallService,
  ) {}

  async run(submission: Submission): Promise<void> {
    const { callId, lineage, principal, newCall } = submission;
    const dispatch = () => dispatchCall(this.queue, { callId, attempt: 1 }, newCall.submitted, principal.tenantId);
    const isNewAndQueued = newCall.followUp === undefined && newCall.idempotency === undefined;
    if (lineage !== undefined) await this.children.registerChild(lineage.parentCallId, callId);
    submission.mayBeWritten = true;
    newCall.submitted.acceptAt = new Date().toISOString();
    const goesAhead = isNewAndQueued && !this.full.has(principal.tenantId);
    const answer = await this.accepted(submission, goesAhead ? dispatch : undefined);
    if ('callId' in answer) {
      submission.accepted = { repeatedCallId: answer.callId, logCode: answer.code };
      return submission.release?.();
    }
    const call = acceptedCall(newCall, submission.evaluated.args, answer.time);
    submission.accepted = { call, logCode: answer.code };
    if (call.status === 'queued' && !goesAhead) dispatch();
  }

  private async accepted({ newCall, callId, lineage, principal: { tenantId } }: Submission, sent?: () => void): Promise<AcceptAnswer> {
    try {
      const answer = await this.log.accept(newCall, sent);
      this.full.delete(tenantId);
      return answer;
    } catch (error) {
      if (!(error instanceof EventLogTenantFull)) throw error;
      this.full.add(tenantId);
      if (lineage !== undefined) await this.children.unregisterChild(lineage.parentCallId, callId);
      throw error;
    }
  }

  spanAttributes({ accepted }: Submission): Record<string, string | undefined> {
    return { 'toolyard.log.code': accepted.logCode };
  }
}
