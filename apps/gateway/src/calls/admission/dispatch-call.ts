import type { CallJob, Pool, Priority, ToolEffect } from '#contracts';
import type { CallQueue } from '#queue';
import { telemetry } from '#observability';

/** Facts of a call that its queue needs. */
interface QueuedCall {
  readonly pool: Pool;
  /** Default: the queue of the pool. */
  readonly queue?: string | undefined;
  readonly priority: Priority;
  readonly effect: ToolEffect;
}

/** Dispatches a call to a worker. Never rejects: the log's timers repeat a lost dispatch, so a failure is only counted. */
export function dispatchCall(
  queue: CallQueue,
  job: CallJob,
  { pool, queue: name = pool, priority, effect }: QueuedCall,
  tenantId: string,
): void {
  queue.dispatch(name, job, priority, tenantId, effect).catch(() => telemetry.dispatchFailed.emit({ pool }));
}
