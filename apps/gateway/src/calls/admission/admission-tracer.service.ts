import { Injectable } from '@nestjs/common';
import { ProblemError } from '#contracts';
import type { Span, StageTrace, Tracing } from '#observability';
import { ToolRegistry } from '#tool-sdk';
import type { AdmissionStage, Submission } from './submission.js';

/**
 * Spans of submissions, off until `enable` is called. `submit_call {tool}` is stored with the call and ends on acceptance, even
 * if the caller waits longer. Its children are one span for each stage that waits, and always `evaluate` and `accept`; the other
 * stages take microseconds.
 */
@Injectable()
export class AdmissionTracer {
  private tracing: Tracing | undefined;
  private isHttpRequest: (traceparent: string) => boolean = () => false;

  constructor(private readonly tools: ToolRegistry) {}

  /** `isHttpRequest`: true if the traceparent is the span of an HTTP request in progress. */
  enable(tracing: Tracing, isHttpRequest: (traceparent: string) => boolean): void {
    this.tracing = tracing;
    this.isHttpRequest = isHttpRequest;
  }

  get isEnabled(): boolean {
    return this.tracing !== undefined;
  }

  /** Runs `work` in the submission's span, or without a span while tracing is off. */
  async trace<T>(submission: Submission, work: () => Promise<T>): Promise<T> {
    const { tracing } = this;
    if (tracing === undefined) return work();
    const span = this.start(tracing, submission);
    submission.trace = new StageSpans(tracing, span);
    try {
      return await span.run(work);
    } catch (error) {
      span.end({ failed: { type: errorType(error) } });
      throw error;
    } finally {
      span.end();
    }
  }

  /** Starts the submission's span, whose kind is `server` without a request, batch or sub-agent above, as for a WebSocket. */
  private start(tracing: Tracing, { principal, body, options }: Submission): Span {
    const { traceparent: parent, batchId, replayOf, byAgent } = options;
    const tool = this.tools.for(principal.tenantId).resolve(body.tool)?.name ?? 'unknown';
    const isBelow = batchId !== undefined || byAgent !== undefined || (parent !== undefined && this.isHttpRequest(parent));
    return tracing.start({
      name: `submit_call ${tool}`,
      kind: isBelow ? 'producer' : 'server',
      parent,
      attributes: {
        'gen_ai.tool.name': tool,
        'gen_ai.tool.call.id': body.toolCallId,
        'gen_ai.conversation.id': body.sessionId,
        'gen_ai.agent.id': body.agentId ?? principal.agentId,
        'toolyard.tenant.id': principal.tenantId,
        'toolyard.batch.id': batchId,
        'toolyard.replay_of': replayOf,
        'network.protocol.name': isBelow ? undefined : 'websocket',
      },
    });
  }
}

/** Records a span for each stage, below that of the submission. */
class StageSpans implements StageTrace<Submission> {
  constructor(
    private readonly tracing: Tracing,
    private readonly submissionSpan: Span,
  ) {}

  get traceparent(): string {
    return this.submissionSpan.traceparent;
  }

  run(stage: AdmissionStage, submission: Submission): void | Promise<void> {
    const span = this.tracing.start({ name: stage.name, parent: this.traceparent, attributes: {} });
    try {
      const waiting = span.run(() => stage.run(submission));
      if (waiting !== undefined) return this.finish(span, stage, submission, waiting);
      // Exports only spans of traced stages: a span without an end is not exported.
      if (stage.isAlwaysTraced === true) this.end(span, stage, submission);
    } catch (error) {
      span.end({ failed: { type: errorType(error) } });
      throw error;
    }
  }

  private async finish(span: Span, stage: AdmissionStage, submission: Submission, waiting: Promise<void>): Promise<void> {
    try {
      await waiting;
      this.end(span, stage, submission);
    } catch (error) {
      span.end({ failed: { type: errorType(error) } });
      throw error;
    }
  }

  private end(span: Span, stage: AdmissionStage, submission: Submission): void {
    span.set(stage.spanAttributes?.(submission) ?? {});
    span.end();
    if (stage.name === 'accept') this.endSubmission(submission);
  }

  private endSubmission({ accepted, evaluated }: Submission): void {
    const isRepeated = 'repeatedCallId' in accepted;
    this.submissionSpan.set({
      'toolyard.call.id': isRepeated ? accepted.repeatedCallId : accepted.call.id,
      'toolyard.call.repeated': isRepeated,
    });
    const code = evaluated.rejection?.error.code;
    this.submissionSpan.end(code === undefined ? {} : { failed: { type: code } });
  }
}

function errorType(error: unknown): string {
  if (error instanceof ProblemError) return error.code;
  return error instanceof Error ? error.name : 'unknown';
}
