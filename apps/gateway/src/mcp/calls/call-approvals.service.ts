import { Inject, Injectable } from '@nestjs/common';
import { ProblemError, type Call, type Principal } from '#contracts';
import { ToolRegistry } from '#tool-sdk';
import { DecideApprovalService } from '../../approvals/decide-approval.service.js';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { CallReader } from '../../calls/read/call-reader.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import type { ClientFeatures } from '../wire/client-features.js';
import { approvalForm, type FormAnswer } from './approval-form.js';
import type { ElicitationForm } from './tool-call.js';

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
    return approvalForm(call, this.tools.for(call.tenantId).resolve(call.tool));
  }

  /**
   * Applies the answer, and returns the call as it is then. A call that was decided meanwhile keeps that decision.
   * @throws ProblemError `forbidden` when this key may not decide
   */
  async answer(principal: Principal, callId: string, answer: FormAnswer): Promise<Call> {
    if (answer !== 'dismissed') {
      const refusal = this.apiKeys.rejection(principal, 'approve');
      if (refusal !== undefined) throw refusal;
      const reason = answer === 'deny' ? { reason: DECLINED } : {};
      try {
        return await this.decideApproval.decide(principal, callId, { decision: answer, scope: 'once', ...reason });
      } catch (error) {
        if (!(error instanceof ProblemError) || error.code !== 'conflict') throw error;
      }
    }
    return this.reader.read(principal, callId);
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
