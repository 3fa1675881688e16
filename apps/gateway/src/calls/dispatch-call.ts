import type { Pool, Priority } from '#contracts';
import type { CallQueue } from '#queue';
import { signals } from '#signals';

/** The fast path to a worker. Never rejects: the log's timers dispatch again what got lost, so a failure is only counted. */
export function dispatchCall(queue: CallQueue, pool: Pool, callId: string, attempt: number, priority: Priority, tenantId: string): void {
  queue.dispatch(pool, { callId, attempt }, priority, tenantId).catch(() => signals.dispatchFailed.emit({ pool }));
}
