import { Inject, Injectable } from '@nestjs/common';
import type { FileAccess } from '#contracts';
import { ToolRegistry } from '#tool-sdk';
import { FileDenials } from '../../governance/file-denials.service.js';
import { RedactionConfigService } from '../../governance/redaction-config.service.js';
import { eventOrigin } from '../../platform/event-origin.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import { newCall } from './new-call.js';
import type { AdmissionStage, Submission } from './submission.js';

/** Makes the call's first transition. What paths are denied to it is stored first, so that the call carries a digest. */
@Injectable()
export class ComposeStage implements AdmissionStage {
  readonly name = 'compose';

  constructor(
    private readonly denials: FileDenials,
    private readonly redaction: RedactionConfigService,
    private readonly tools: ToolRegistry,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  run(submission: Submission): void | Promise<void> {
    const { files } = submission.evaluated;
    if (files !== undefined) return this.denials.keep(files).then((stored) => this.compose(submission, stored));
    this.compose(submission, undefined);
  }

  private compose(submission: Submission, files: FileAccess | undefined): void {
    const { principal, options, trace } = submission;
    const { idempotencyKey, replayOf, scheduleId, requesters, batchId } = options;
    submission.newCall = newCall({
      callId: submission.callId,
      principal,
      body: submission.body,
      evaluated: submission.evaluated,
      secret: submission.secret,
      safety: submission.redactionSettings,
      origin: eventOrigin(this.config.name, principal),
      traceparent: trace === undefined ? options.traceparent : trace.traceparent,
      idempotencyKey: idempotencyKey === undefined ? undefined : this.redaction.identifier(idempotencyKey),
      idempotency: submission.idempotency,
      replayOf,
      startedBy: options.startedBy?.callId,
      scheduleId,
      requesters,
      resultBytes: submission.resultBytes,
      batchId,
      agentBudget: options.byAgent?.budget,
      lineage: submission.lineage,
      files,
      queue: this.queueOf(submission),
      config: this.config,
    });
  }

  private queueOf({ evaluated: { tool }, principal }: Submission): string | undefined {
    const view = this.tools.for(principal.tenantId);
    return tool === undefined || view.resolve(tool.name) === undefined ? undefined : view.source(tool.name).queueOf?.(tool.pool);
  }
}
