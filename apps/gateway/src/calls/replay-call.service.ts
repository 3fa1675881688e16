import { Injectable } from '@nestjs/common';
import { ProblemError, type Call, type Principal, type ReplayBody, type SubmitCallBody } from '#contracts';
import { REDACTED } from '#redaction';
import { CallReader } from './read/call-reader.service.js';
import type { SubmitOptions } from './admission/submission.js';
import { SubmitCallService, type SubmittedCall } from './submit-call.service.js';

const SECRETS_ARE_GONE = `The arguments of this call held secrets or hidden characters, which are not kept: send all arguments, with the secrets in place of ${REDACTED}`;

const ERASED = 'The content of this call was erased: replay it with arguments';

/**
 * Runs a call again as a new call of the same session, with the same or edited arguments; `replayOf` has the lineage. Secrets
 * and escaped invisible characters are stored only in shown form: such a call needs its arguments again. All stages of a
 * submission apply with the current tool, posture and policy.
 */
@Injectable()
export class ReplayCallService {
  constructor(
    private readonly reader: CallReader,
    private readonly submitCall: SubmitCallService,
  ) {}

  async replay(principal: Principal, callId: string, edit: ReplayBody, options: SubmitOptions): Promise<SubmittedCall> {
    const { argumentsRedacted, ...call } = await this.reader.read(principal, callId);
    const { tool, arguments: args, sessionId, agentId, userId, priority, timeouts, labels } = call;
    if (call.erased && edit.arguments === undefined) throw new ProblemError('conflict', ERASED, { callId });
    if (edit.arguments === undefined ? argumentsRedacted : JSON.stringify(edit.arguments).includes(REDACTED))
      throw new ProblemError('invalid_request', SECRETS_ARE_GONE, {
        callId,
        errors: [{ pointer: '/arguments', message: SECRETS_ARE_GONE }],
      });
    // Keeps the times of the original call, which may exceed those that a submission may request.
    const body: SubmitCallBody = {
      tool,
      dialect: 'core',
      arguments: edit.arguments ?? asSubmitted(args),
      priority,
      timeouts,
      labels,
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(agentId === undefined ? {} : { agentId }),
      ...(userId === undefined ? {} : { userId }),
    };
    const { requesters, dialectForm } = await this.reader.submissionInfo(principal, callId);
    // Editors count as submitters: with four eyes, the author of the arguments cannot approve them.
    const editors = call.approval?.decided?.edited === undefined ? [] : [call.approval.decided.by];
    return this.submitCall.submit(principal, body, {
      ...options,
      replayOf: callId,
      dialectForm,
      requesters: [...new Set([...requesters, ...editors])],
    });
  }
}

/** Arguments of a submission. Non-objects, which were rejected, become JSON text and are rejected again. */
export function asSubmitted(args: Call['arguments']): SubmitCallBody['arguments'] {
  if (typeof args === 'string') return args;
  return typeof args === 'object' && args !== null && !Array.isArray(args) ? args : JSON.stringify(args);
}
