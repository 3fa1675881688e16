import type { CallJob, Pool, Priority } from '#contracts';
import { telemetry } from '#observability';
import type { CallQueue } from './queue.port.js';

/** A call that the log has made due. */
export interface DueCall extends CallJob {
  readonly queue: string;
  readonly priority: Priority;
  readonly pool: Pool;
  readonly tenantId: string;
}

/** Dispatches a woken call at once. Never rejects: the timers of the log repeat a lost dispatch. */
export function dispatchWoken(queue: Pick<CallQueue, 'dispatch'>, call: DueCall): void {
  const { callId, attempt, priority, pool, tenantId } = call;
  queue.dispatch(call.queue, { callId, attempt }, priority, tenantId).catch(() => telemetry.dispatchFailed.emit({ pool }));
}
