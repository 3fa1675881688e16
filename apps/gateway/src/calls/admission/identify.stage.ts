import { Injectable } from '@nestjs/common';
import { EventLog } from '#event-log';
import { idempotencyScope } from './idempotency.js';
import type { AdmissionStage, Submission } from './submission.js';

/** Assigns the call's id, which names its partition, and the key that recognises a repeated submission. */
@Injectable()
export class IdentifyStage implements AdmissionStage {
  readonly name = 'identify';

  constructor(private readonly log: EventLog) {}

  run(submission: Submission): void {
    const { principal, body, lineage, options } = submission;
    const { rootId, idempotency } = idempotencyScope(principal, body, options.idempotencyKey, options.replayOf);
    submission.idempotency = idempotency;
    submission.callId =
      lineage === undefined ? this.log.newCallId(principal.tenantId, rootId) : this.log.newCallIdBeside(lineage.parentCallId);
  }
}
