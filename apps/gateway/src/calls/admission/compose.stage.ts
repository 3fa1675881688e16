import { Inject, Injectable } from '@nestjs/common';
import type { EgressRules, FileAccess } from '#contracts';
import type { FileAccessDecision } from '#policy';
import { ToolRegistry } from '#tool-sdk';
import { StoredRules } from '../../governance/stored-rules.service.js';
import { RedactionConfigService } from '../../governance/redaction-config.service.js';
import { eventOrigin } from '../../platform/event-origin.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import { ToolAvailabilityService } from '../../workers/tool-availability.service.js';
import { newCall } from './new-call.js';
import type { AdmissionStage, Submission } from './submission.js';

/** Creates the call's first transition. Stores denied paths and egress rules first, so that the call carries their digests. */
@Injectable()
export class ComposeStage implements AdmissionStage {
  readonly name = 'compose';

  constructor(
    private readonly rules: StoredRules,
    private readonly redaction: RedactionConfigService,
    private readonly tools: ToolRegistry,
    @Inject(ToolAvailabilityService) private readonly availability: Pick<ToolAvailabilityService, 'hostOf'>,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  run(submission: Submission): void | Promise<void> {
    const { files, egress } = submission.evaluated;
    if (files !== undefined || egress !== undefined) return this.composeWith(submission, files, egress);
    this.compose(submission, {});
  }

  private async composeWith(submission: Submission, files?: FileAccessDecision, egress?: EgressRules): Promise<void> {
    const [storedFiles, storedEgress] = await Promise.all([files && this.rules.keep(files), egress && this.rules.keepEgress(egress)]);
    this.compose(submission, { files: storedFiles, egress: storedEgress });
  }

  private compose(submission: Submission, access: { files?: FileAccess | undefined; egress?: string | undefined }): void {
    const { principal, body, options, trace } = submission;
    const { idempotencyKey, replayOf, scheduleId, requesters, batchId } = options;
    submission.newCall = newCall({
      callId: submission.callId,
      principal,
      body,
      evaluated: submission.evaluated,
      secret: submission.secret,
      safety: submission.redactionSettings,
      origin: eventOrigin(this.config.name, principal),
      traceparent: trace === undefined ? options.traceparent : trace.traceparent,
      idempotencyKey: idempotencyKey === undefined ? undefined : this.redaction.of(principal.tenantId).identifier(idempotencyKey),
      idempotency: submission.idempotency,
      sampling: options.sampling,
      replayOf,
      startedBy: options.startedBy?.callId,
      scheduleId,
      requesters,
      resultBytes: submission.resultBytes,
      batchId,
      stageMs: submission.stageMs,
      agentBudget: options.byAgent?.budget,
      lineage: submission.lineage,
      ...access,
      host: this.availability.hostOf({
        tenantId: principal.tenantId,
        agentId: body.agentId ?? principal.agentId,
        sessionId: body.sessionId,
      }),
      queue: this.queueOf(submission),
      config: this.config,
    });
  }

  private queueOf({ evaluated: { tool }, principal }: Submission): string | undefined {
    const view = this.tools.for(principal.tenantId);
    return tool === undefined || view.resolve(tool.name) === undefined ? undefined : view.source(tool.name).queueOf?.(tool.pool);
  }
}
