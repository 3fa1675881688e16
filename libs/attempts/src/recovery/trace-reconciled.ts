import type { CallSnapshot } from '#event-log';
import type { Tracing } from '#observability';
import type { RecoveryAction } from './decide-recovery.js';

/**
 * Records the span of a call or attempt that ended without a worker. The span covers the wait of a call that never started, and
 * only the moment of recovery of a lost attempt.
 */
export function traceReconciled(
  tracing: Tracing,
  head: CallSnapshot,
  { failure }: RecoveryAction & { kind: 'end' | 'retry' },
  now: number,
): void {
  const { callId, status, pool, meta, attempt, submittedAt } = head;
  const never = attempt === 0;
  tracing
    .start({
      name: status === 'waiting_approval' ? 'approve' : never ? `queue ${pool}` : 'recover',
      parent: meta.traceparent,
      ...(never ? { startedAt: Date.now() - Math.max(0, now - submittedAt) } : {}),
      attributes: { 'gen_ai.tool.name': meta.tool, 'toolyard.call.id': callId, 'toolyard.pool': pool, 'toolyard.attempt': attempt },
    })
    .end({ failed: { type: failure.code } });
}
