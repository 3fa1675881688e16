import { Injectable } from '@nestjs/common';
import type { Call, Principal } from '#contracts';
import type { ClientFeatures } from '../wire/client-features.js';
import { answerIn, APPROVAL } from './approval-form.js';
import { CallApprovals } from './call-approvals.service.js';
import { CallInputs, isDismissed } from './call-inputs.service.js';
import { inputAnswerIn, inputForm, inputQuestion } from './input-form.js';
import { samplingRequest } from './sampling-request.js';
import type { ClientRequest, ElicitationForm } from './tool-call.js';

/** Request about a call to the client's user or model, with its name among the input requests. */
export interface Question {
  readonly name: string;
  readonly request: ClientRequest;
}

type Responses = Readonly<Record<string, unknown>> | undefined;

/** Open request of a call: approval, or the value that its tool needs. A call has at most one. */
@Injectable()
export class CallQuestions {
  constructor(
    private readonly approvals: CallApprovals,
    private readonly inputs: CallInputs,
  ) {}

  /** Undefined if the call waits for nothing from a person. */
  nameOf(call: Call): string | undefined {
    return call.status === 'waiting_approval' ? APPROVAL : inputQuestion(call);
  }

  /** Undefined if no request is open, or if the client's user may not answer with this key. */
  async find(principal: Principal, features: ClientFeatures, call: Call): Promise<Question | undefined> {
    const name = this.nameOf(call);
    if (name === undefined) return undefined;
    if (name === APPROVAL)
      return this.approvals.canAsk(principal, features) ? { name, request: formRequest(this.approvals.form(call)) } : undefined;
    if (!(await this.inputs.canAsk(principal, features, call))) return undefined;
    const request = call.waiting?.input?.sampling === undefined ? formRequest(inputForm(call)) : samplingRequest(call);
    return request && { name, request };
  }

  /** True if the responses dismiss the open request of the call. */
  isDismissed(call: Call, responses: Responses): boolean {
    const name = this.nameOf(call);
    if (name === APPROVAL) return answerIn(responses)?.decision === 'dismissed';
    const answer = inputAnswerIn(responses);
    return answer !== undefined && isDismissed(answer, call) && name === `input.${answer.attempt}`;
  }

  /**
   * Applies the answer in the responses. Undefined without one.
   * @throws the errors of `CallApprovals` and `CallInputs`
   */
  async answer(principal: Principal, callId: string, responses: Responses): Promise<Call | undefined> {
    const input = inputAnswerIn(responses);
    if (input !== undefined) return this.inputs.answer(principal, callId, input);
    const decision = answerIn(responses);
    return decision === undefined ? undefined : this.approvals.answer(principal, callId, decision);
  }

  /** Text for a model and its user. */
  howToAnswer(call: Call): string {
    return call.status === 'waiting_approval' ? this.approvals.howToApprove(call) : this.inputs.howToAnswer(call);
  }
}

function formRequest(params: ElicitationForm): ClientRequest {
  return { method: 'elicitation/create', params };
}
