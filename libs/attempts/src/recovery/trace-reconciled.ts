import type { CallSnapshot } from '#event-log';
import type { Tracing } from '#observability';
import type { RecoveryAction } from './decide-recovery.js';

/**
 * What nobody else can tell: how a call ended, or an attempt, without a worker. A call that never started shows what it
 * waited for; of a lost attempt only the moment is known.
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
