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

/** Schema of edited arguments in a decision. */
const Arguments = DecisionBody.shape.arguments.unwrap();
const DECLINED = 'Declined by the user of the MCP client';

/**
 * Approvals by the user of an MCP client. The key needs the scope `approve`: without that rule an agent could answer for its
 * user. The first decision counts, whether it comes from here, the dashboard or the HTTP API.
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

  /** True if the client's user may approve with this key. */
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
   * Applies the decision and returns the call after it. A call that was decided meanwhile keeps that decision.
   * @throws ProblemError `forbidden` if this key may not decide; the problem of edited arguments that may not run, while the
   * call continues to wait
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

  /** Arguments of the form, if they differ from the shown ones. */
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

  /** Text for a model and its user: the tool has not run, and how to approve the call. */
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
