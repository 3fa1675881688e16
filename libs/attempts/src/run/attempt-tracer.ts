import type { CommitResult } from '../commit/commit-attempt.js';
import type { Pool } from '#contracts';
import { isApplied, type CallStore, type Claimed } from '#event-log';
import type { Attributes, Span, Stage, Tracing } from '#observability';
import type { AttemptTrace, AttemptTraceSource } from './attempt-trace.js';

/** Longest attribute with arguments or results, if their export is allowed. */
const CONTENT_CHARS = 8_192;

/** Records spans of attempts: the wait in the queue, the attempt, and its stages. */
export class AttemptTracer implements AttemptTraceSource {
  constructor(
    private readonly tracing: Tracing,
    private readonly store: Pick<CallStore, 'snapshot' | 'events'>,
    private readonly workerId: string,
    private readonly tools: { for(tenantId: string): { resolve(name: string): { readonly description: string } | undefined } },
  ) {}

  /**
   * Starts `execute_tool {tool}` by the GenAI conventions, and before it `queue {pool}`; both continue the trace context in the
   * log.
   */
  start(callId: string, claimed: Claimed, pool: Pool): AttemptTrace {
    const { meta, submitted, attempt } = claimed;
    const common = { 'gen_ai.tool.name': meta.tool, 'toolyard.call.id': callId, 'toolyard.attempt': attempt, 'toolyard.pool': pool };
    this.recordQueueSpan(callId, claimed, pool, common);
    const span = this.tracing.start({
      name: `execute_tool ${meta.tool}`,
      parent: meta.traceparent,
      attributes: {
        ...common,
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.description': this.tools.for(meta.tenantId).resolve(meta.tool)?.description,
        'gen_ai.tool.call.id': submitted.toolCallId ?? callId,
        'gen_ai.conversation.id': meta.sessionId,
        'gen_ai.agent.id': meta.agentId,
        'toolyard.tenant.id': meta.tenantId,
        'toolyard.worker.id': this.workerId,
        ...this.contentOf('gen_ai.tool.call.arguments', submitted.arguments),
      },
    });
    return new AttemptSpans(this.tracing, span, (committed) => this.end(span, committed));
  }

  private end(span: Span, committed: CommitResult | undefined): void {
    if (committed === undefined || committed.kind === 'nothing' || !isApplied(committed.answer)) {
      span.end({ failed: { type: 'worker_lost' } });
    } else if (committed.kind === 'retried') {
      const { reason, error } = committed.data;
      span.set({ 'toolyard.retry.reason': reason, 'toolyard.retry.delay_ms': committed.delayMs });
      span.end(reason === 'suspended' ? {} : { failed: this.failure(error?.code ?? reason, error?.message) });
    } else {
      const { outcome, error, stopped, result } = committed.data;
      span.set({
        'toolyard.outcome': outcome,
        'toolyard.stopped.how': stopped?.how,
        ...this.contentOf('gen_ai.tool.call.result', result),
      });
      span.end(error === undefined ? {} : { failed: this.failure(error.code, error.message) });
    }
  }

  private failure(type: string, message: string | undefined): { type: string; message?: string } {
    return { type, ...(this.tracing.content && message !== undefined ? { message } : {}) };
  }

  private contentOf(name: string, value: unknown): Attributes {
    return this.tracing.content && value !== undefined ? { [name]: JSON.stringify(value).slice(0, CONTENT_CHARS) } : {};
  }

  /** Records the time from queued to claimed by the clock of Redis, shifted so that it ends now. */
  private recordQueueSpan(callId: string, claimed: Claimed, pool: Pool, attributes: Attributes): void {
    const now = Date.now();
    const record = (queuedAt: number) =>
      this.tracing
        .start({
          name: `queue ${pool}`,
          parent: claimed.meta.traceparent,
          startedAt: now - Math.max(0, claimed.time - queuedAt),
          endedAt: now,
          attributes,
        })
        .end();
    const look = this.queuedAt(callId, claimed);
    if (typeof look === 'number') record(look);
    // A failed look-up only costs this span.
    else void look.then(record, () => {});
  }

  /** Time of queueing: the submission for a first attempt without approval, else the event before Start. */
  private queuedAt(callId: string, { attempt, submitted, submittedAt, seq }: Claimed): number | Promise<number> {
    if (attempt === 1 && submitted.decision.effect !== 'ask') return submittedAt;
    return this.eventBefore(callId, seq).then((at) => at ?? submittedAt);
  }

  private async eventBefore(callId: string, startSeq: number): Promise<number | undefined> {
    const head = await this.store.snapshot(callId);
    const before = head?.lifecycleSeqs.filter((seq) => seq < startSeq).at(-1);
    if (before === undefined) return undefined;
    const [event] = await this.store.events(callId, { afterSeq: before - 1, limit: 1 });
    return event?.time;
  }
}

/**
 * Span of one attempt, and below it one for each stage that waits. Stages are recorded at the end of the attempt, so that a
 * lost worker leaves no spans without a parent.
 */
class AttemptSpans implements AttemptTrace {
  private readonly stages: { readonly name: string; readonly startedAt: number; readonly endedAt: number; readonly failed: boolean }[] = [];
  private ended = false;

  constructor(
    private readonly tracing: Tracing,
    private readonly span: Span,
    private readonly endSpan: (committed: CommitResult | undefined) => void,
  ) {}

  get traceparent(): string {
    return this.span.traceparent;
  }

  run<C>(stage: Stage<C>, context: C): void | Promise<void> {
    const startedAt = epochNow();
    const waiting = this.span.run(() => stage.run(context));
    return waiting === undefined ? undefined : this.finish(stage.name, startedAt, waiting);
  }

  end(committed: CommitResult | undefined): void {
    if (this.ended) return;
    this.ended = true;
    for (const { name, startedAt, endedAt, failed } of this.stages) {
      this.tracing
        .start({ name, parent: this.traceparent, startedAt, endedAt, attributes: {} })
        .end(failed ? { failed: { type: 'stage_failed' } } : {});
    }
    this.endSpan(committed);
  }

  private async finish(name: string, startedAt: number, waiting: Promise<void>): Promise<void> {
    let failed = true;
    try {
      await waiting;
      failed = false;
    } finally {
      this.stages.push({ name, startedAt, endedAt: epochNow(), failed });
    }
  }
}

/** Milliseconds since the epoch, with a fraction: most stages take less than one. */
function epochNow(): number {
  return performance.timeOrigin + performance.now();
}
