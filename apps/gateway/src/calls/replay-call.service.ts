import { Injectable } from '@nestjs/common';
import { SubmitCallBody, type Principal, type ReplayBody } from '#contracts';
import { CallReader } from './call-reader.service.js';
import { SubmitCallService, type Submission, type SubmitOptions } from './submit-call.service.js';

/**
 * Runs a call again as a new call of the same session, with the same arguments or edited ones; `replayOf` keeps the
 * lineage. It passes every step of a submission: today's tool, posture and policy judge it, not those of then.
 */
@Injectable()
export class ReplayCallService {
  constructor(
    private readonly reader: CallReader,
    private readonly submitCall: SubmitCallService,
  ) {}

  async replay(principal: Principal, callId: string, edit: ReplayBody, options: SubmitOptions): Promise<Submission> {
    const { tool, arguments: args, sessionId, agentId, priority, timeouts, labels } = await this.reader.read(principal, callId);
    const body = SubmitCallBody.parse({ tool, arguments: edit.arguments ?? args, sessionId, agentId, priority, timeouts, labels });
    return this.submitCall.submit(principal, body, { ...options, replayOf: callId });
  }
}
