import type { CallJob, Pool, Priority, ToolEffect } from '#contracts';
import type { CallQueue } from '#queue';
import { telemetry } from '#observability';

/** What a queue has to know about a call. */
interface QueuedCall {
  readonly pool: Pool;
  /** Absent for the queue of the pool. */
  readonly queue?: string | undefined;
  readonly priority: Priority;
  readonly effect: ToolEffect;
}

/** The fast path to a worker. Never rejects: the log's timers dispatch again what got lost, so a failure is only counted. */
export function dispatchCall(
  queue: CallQueue,
  job: CallJob,
  { pool, queue: name = pool, priority, effect }: QueuedCall,
  tenantId: string,
): void {
  queue.dispatch(name, job, priority, tenantId, effect).catch(() => telemetry.dispatchFailed.emit({ pool }));
}
