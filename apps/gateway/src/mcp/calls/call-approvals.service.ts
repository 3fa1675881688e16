import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { DecisionBody, ProblemError, type Call, type Principal } from '#contracts';
import { ToolRegistry } from '#tool-sdk';
import { DecideApprovalService } from '../../approvals/decide-approval.service.js';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { CallReader } from '../../calls/read/call-reader.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import { parseJsonBody } from '../../platform/http/json-body.js';
import type { ClientFeatures } from '../wire/client-features.js';
import { approvalForm, type FormAnswer } from './approval-form.js';
import type { ElicitationForm } from './tool-call.js';

/** What a decision takes as edited arguments. */
const Arguments = DecisionBody.shape.arguments.unwrap();
const DECLINED = 'Declined by the user of the MCP client';

/**
 * Approvals that the user of an MCP client gives. The key must have the scope `approve`: an agent without it could answer
 * for its user. The first answer decides, whether it comes from here, the dashboard or the HTTP interface.
 */
@Injectable()
export class CallApprovals {
  constructor(
    private readonly decideApproval: DecideApprovalService,
    private readonly reader: CallReader,
    private readonly apiKeys: ApiKeyStore,
    private readonly tools: ToolRegistry,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'publicUrl'>,
  ) {}

  /** Whether the client's user can be asked with this key. */
  canAsk(principal: Principal, { elicitation }: Pick<ClientFeatures, 'elicitation'>): boolean {
    return elicitation && this.apiKeys.rejection(principal, 'approve') === undefined;
  }

  form(call: Call): ElicitationForm {
    const descriptor = this.tools.for(call.tenantId).resolve(call.tool);
    const { publicUrl } = this.config;
    const dashboard = publicUrl === undefined ? 'in the dashboard' : `at ${publicUrl}/calls/${call.id}`;
    return approvalForm(call, { descriptor, whereToRead: `${dashboard} or with GET /v1/calls/${call.id}` });
  }

  /**
   * Applies the answer, and returns the call as it is then. A call that was decided meanwhile keeps that decision.
   * @throws ProblemError `forbidden` when this key may not decide; that of a decision with arguments that may not run: the call
   * goes on waiting
   */
  async answer(principal: Principal, callId: string, answer: FormAnswer): Promise<Call> {
    const { decision } = answer;
    if (decision !== 'dismissed') {
      const refusal = this.apiKeys.rejection(principal, 'approve');
      if (refusal !== undefined) throw refusal;
      const edited = await this.editOf(principal, callId, answer);
      const more = { ...(decision === 'deny' ? { reason: DECLINED } : {}), ...(edited === undefined ? {} : { arguments: edited }) };
      try {
        return await this.decideApproval.decide(principal, callId, { decision, scope: 'once', ...more });
      } catch (error) {
        if (!(error instanceof ProblemError) || error.code !== 'conflict') throw error;
      }
    }
    return this.reader.read(principal, callId);
  }

  /** The arguments that the user left in the form, where they are others than those that it showed. */
  private async editOf(principal: Principal, callId: string, { arguments: text = '' }: FormAnswer) {
    if (text.trim() === '') return undefined;
    const given = Arguments.safeParse(jsonOf(text)).data;
    if (given === undefined)
      throw new ProblemError(
        'invalid_request',
        `Expected the arguments as one JSON object; received ${JSON.stringify(text.slice(0, 200))}`,
        {
          callId,
        },
      );
    const { arguments: shown } = await this.reader.read(principal, callId);
    return isDeepStrictEqual(given, shown) ? undefined : given;
  }

  /** For a model and its user: nothing has run, and who can change that. */
  howToApprove({ id, tool, approval }: Call): string {
    const reasons = approval?.reasons.join('; ') ?? 'the policy asks a person';
    const until = approval === undefined ? '' : ` before ${approval.expiresAt}`;
    const { publicUrl } = this.config;
    const dashboard = publicUrl === undefined ? 'in the dashboard' : `at ${publicUrl}/approvals`;
    return `${tool} is not approved and has not run: ${reasons}. A person can approve it ${dashboard} or with POST /v1/calls/${id}/decision {"decision":"allow"}${until}.`;
  }
}

function jsonOf(text: string): unknown {
  try {
    return parseJsonBody(text);
  } catch {
    return undefined;
  }
}
