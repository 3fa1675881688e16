import { Injectable } from '@nestjs/common';
import type { Call, Principal } from '#contracts';
import type { ClientFeatures } from '../wire/client-features.js';
import { answerIn, APPROVAL } from './approval-form.js';
import { CallApprovals } from './call-approvals.service.js';
import { CallInputs, isDismissed } from './call-inputs.service.js';
import { inputAnswerIn, inputForm, inputQuestion } from './input-form.js';
import { samplingRequest } from './sampling-request.js';
import type { ClientRequest, ElicitationForm } from './tool-call.js';

/** What the user of a client, or its model, is asked about a call, under the name of the question among its input requests. */
export interface Question {
  readonly name: string;
  readonly request: ClientRequest;
}

type Responses = Readonly<Record<string, unknown>> | undefined;

/** The open question of a call: whether it may run, or the value that its tool asks for. A call has one at most. */
@Injectable()
export class CallQuestions {
  constructor(
    private readonly approvals: CallApprovals,
    private readonly inputs: CallInputs,
  ) {}

  /** Undefined when the call waits for nothing that a person gives. */
  nameOf(call: Call): string | undefined {
    return call.status === 'waiting_approval' ? APPROVAL : inputQuestion(call);
  }

  /** Undefined when no question is open, or the client's user cannot be asked with this key. */
  async find(principal: Principal, features: ClientFeatures, call: Call): Promise<Question | undefined> {
    const name = this.nameOf(call);
    if (name === undefined) return undefined;
    if (name === APPROVAL)
      return this.approvals.canAsk(principal, features) ? { name, request: formRequest(this.approvals.form(call)) } : undefined;
    if (!(await this.inputs.canAsk(principal, features, call))) return undefined;
    const request = call.waiting?.input?.sampling === undefined ? formRequest(inputForm(call)) : samplingRequest(call);
    return request && { name, request };
  }

  /** Whether the request says that the user has dismissed the open question of the call. */
  isDismissed(call: Call, responses: Responses): boolean {
    const name = this.nameOf(call);
    if (name === APPROVAL) return answerIn(responses)?.decision === 'dismissed';
    const answer = inputAnswerIn(responses);
    return answer !== undefined && isDismissed(answer, call) && name === `input.${answer.attempt}`;
  }

  /** Applies the answer in the request. Undefined without one. @throws what `CallApprovals` and `CallInputs` throw */
  async answer(principal: Principal, callId: string, responses: Responses): Promise<Call | undefined> {
    const input = inputAnswerIn(responses);
    if (input !== undefined) return this.inputs.answer(principal, callId, input);
    const decision = answerIn(responses);
    return decision === undefined ? undefined : this.approvals.answer(principal, callId, decision);
  }

  /** For a model and its user. */
  howToAnswer(call: Call): string {
    return call.status === 'waiting_approval' ? this.approvals.howToApprove(call) : this.inputs.howToAnswer(call);
  }
}

function formRequest(params: ElicitationForm): ClientRequest {
  return { method: 'elicitation/create', params };
}
