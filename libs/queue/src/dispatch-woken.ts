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

/** The fast path of a woken call to a worker. Never rejects: the log's timers dispatch again what got lost. */
export function dispatchWoken(queue: Pick<CallQueue, 'dispatch'>, call: DueCall): void {
  const { callId, attempt, priority, pool, tenantId } = call;
  queue.dispatch(call.queue, { callId, attempt }, priority, tenantId).catch(() => telemetry.dispatchFailed.emit({ pool }));
}
