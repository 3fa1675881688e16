import { Injectable } from '@nestjs/common';
import type { Call } from '#contracts';
import type { CallSnapshot } from '#event-log';
import type { Span, Tracing } from '#observability';

/** Spans of decisions and cancels, off until `enable` is called. */
@Injectable()
export class CallTracer {
  private tracing: Tracing | undefined;

  enable(tracing: Tracing): void {
    this.tracing = tracing;
  }

  get isEnabled(): boolean {
    return this.tracing !== undefined;
  }

  /** Records the span `approve`: the wait for a person, and the decision. `before`: the call before its decision. */
  approvalDecided(before: CallSnapshot, decision: string): void {
    if (this.tracing !== undefined) startWait(this.tracing, before, { 'toolyard.approval.decision': decision }).end();
  }

  /** Runs `work` in the span `cancel`, and records the wait of a call that never started. `before`: the call before the cancel. */
  async cancel(before: CallSnapshot, work: () => Promise<Call>): Promise<Call> {
    const { tracing } = this;
    if (tracing === undefined) return work();
    const attributes = { 'toolyard.call.id': before.callId, 'toolyard.call.status': before.status };
    const span = tracing.start({ name: 'cancel', parent: before.meta.traceparent, attributes });
    try {
      const call = await work();
      if (call.outcome === 'cancelled' && (before.status === 'queued' || before.status === 'waiting_approval'))
        startWait(tracing, before, {}).end({ failed: { type: 'cancelled' } });
      return call;
    } finally {
      span.end();
    }
  }
}

/** Span from the submission, by the clock of Redis, until now, by the clock of this machine. */
function startWait(tracing: Tracing, { callId, status, pool, submittedAt, meta }: CallSnapshot, more: Record<string, string>): Span {
  return tracing.start({
    name: status === 'waiting_approval' ? 'approve' : `queue ${pool}`,
    parent: meta.traceparent,
    startedAt: Math.min(submittedAt, Date.now()),
    attributes: { 'gen_ai.tool.name': meta.tool, 'toolyard.call.id': callId, 'toolyard.pool': pool, ...more },
  });
}
