import { Inject, Injectable } from '@nestjs/common';
import { ProblemError, type Call, type InputBody, type InputRequest, type Principal } from '#contracts';
import { GiveInputService } from '../../calls/give-input.service.js';
import { CallReader } from '../../calls/read/call-reader.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import type { ClientFeatures } from '../wire/client-features.js';
import { valueOf, type InputAnswer } from './input-form.js';

/** Values that tools request and the user of an MCP client gives. The first value counts, wherever it comes from. */
@Injectable()
export class CallInputs {
  constructor(
    private readonly giveInput: GiveInputService,
    private readonly reader: CallReader,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'publicUrl'>,
  ) {}

  /** True if the client's user or its model may answer with this key. */
  async canAsk(
    principal: Principal,
    { elicitation, sampling }: Pick<ClientFeatures, 'elicitation' | 'sampling'>,
    { id, waiting }: Call,
  ): Promise<boolean> {
    const isOffered = waiting?.input?.sampling === undefined ? elicitation : sampling;
    return isOffered && (await this.giveInput.mayAnswer(principal, id));
  }

  /**
   * Gives the value of the form and returns the call after it. A request that was answered meanwhile keeps that answer.
   * @throws ProblemError `forbidden` if this key may not answer, `invalid_request` for a value that does not match the schema,
   * while the call continues to wait
   */
  async answer(principal: Principal, callId: string, answer: InputAnswer): Promise<Call> {
    const call = await this.reader.read(principal, callId);
    const question = call.waiting?.input;
    if (question?.attempt !== answer.attempt || isDismissed(answer, call)) return call;
    const isForModel = question.sampling !== undefined;
    if (answer.kind === (isForModel ? 'given' : 'sampled')) return call;
    const given = bodyOf(answer, question);
    try {
      return await this.giveInput.give(principal, callId, { ...given, attempt: answer.attempt });
    } catch (error) {
      if (!(error instanceof ProblemError) || error.code !== 'conflict') throw error;
      return this.reader.read(principal, callId);
    }
  }

  /** Text for a model and its user: the value that the call waits for, and how to give it. */
  howToAnswer({ id, tool, waiting }: Call): string {
    const { publicUrl } = this.config;
    const dashboard = publicUrl === undefined ? 'in the dashboard' : `at ${publicUrl}/calls/${id}`;
    const answer = `${dashboard} or with POST /v1/calls/${id}/input {"value": ...}`;
    return `${tool} waits. ${waiting?.detail ?? ''} A person can answer ${answer}; then ask for the result again.`;
  }
}

function bodyOf(answer: InputAnswer, { inputSchema }: InputRequest): InputBody {
  if (answer.kind === 'sampled') return { value: answer.value };
  return answer.kind === 'given' ? { value: valueOf(inputSchema, answer.content) } : { decline: true };
}

/** True if the answer leaves the request open. */
export function isDismissed({ kind }: InputAnswer, { waiting }: Call): boolean {
  return kind === 'dismissed' || (kind === 'declined' && waiting?.input?.declinable !== true);
}
