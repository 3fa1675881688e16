import { Inject, Injectable } from '@nestjs/common';
import type { Principal, SubmitCallBody } from '#contracts';
import { EventLog } from '#event-log';
import { ToolRegistry } from '#tool-sdk';
import { RedactionConfigService } from '../../governance/redaction-config.service.js';
import { eventOrigin } from '../../platform/event-origin.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import { ChildCallService } from './child-call.service.js';
import { canonicalCall } from './canonical-call.js';
import type { EvaluatedCall } from './evaluated-call.js';
import { idempotencyScope } from './idempotency.js';
import { newCall } from './new-call.js';
import { redactSubmission } from './redact-call.js';

export interface UnrunCallOptions {
  /** Idempotency key by the gateway: a repetition yields the same call. */
  readonly idempotencyKey: string;
  readonly traceparent?: string | undefined;
  readonly batchId?: string | undefined;
}

/**
 * Calls that never run, such as those that a person's message replaced: each has its events, and its End states the reason.
 * Arguments are not stored, since they were not validated.
 */
@Injectable()
export class UnrunCalls {
  constructor(
    private readonly log: EventLog,
    private readonly tools: ToolRegistry,
    private readonly redaction: RedactionConfigService,
    private readonly children: ChildCallService,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  /**
   * Id of the recorded call, or of an earlier one with the same key. A parent in the body must be a sub-agent.
   *
   * @throws ProblemError if the parent may make no more calls
   */
  async record(
    principal: Principal,
    given: SubmitCallBody,
    rejection: NonNullable<EvaluatedCall['rejection']>,
    { idempotencyKey, traceparent, batchId }: UnrunCallOptions,
  ): Promise<string> {
    const { parentCallId } = given;
    const child = parentCallId === undefined ? undefined : await this.children.resolveLineage(principal, given, parentCallId, true);
    const body = child?.body ?? given;
    const { rootId, idempotency } = idempotencyScope(principal, body, idempotencyKey);
    const tools = this.tools.for(principal.tenantId);
    const { dialectForm, body: meant } = canonicalCall(tools, body, { dialect: body.dialect });
    const tool = tools.resolve(meant.tool);
    const evaluated: EvaluatedCall = {
      dialectForm,
      requestedTool: body.tool,
      ...(tool === undefined ? {} : { tool }),
      args: null,
      ...(body.userId === undefined ? {} : { userId: body.userId }),
      decision: { effect: 'deny', reasons: [] },
      rejection,
    };
    const callId = parentCallId === undefined ? this.log.newCallId(principal.tenantId, rootId) : this.log.newCallIdBeside(parentCallId);
    if (parentCallId !== undefined) await this.children.registerChild(parentCallId, callId);
    const shown = redactSubmission(this.redaction.of(principal.tenantId), body, evaluated);
    const origin = eventOrigin(this.config.name, principal);
    const lineage = child?.lineage;
    const answer = await this.log.accept(
      newCall({ callId, principal, ...shown, origin, traceparent, idempotencyKey, idempotency, batchId, lineage, config: this.config }),
    );
    return 'callId' in answer ? answer.callId : callId;
  }
}
