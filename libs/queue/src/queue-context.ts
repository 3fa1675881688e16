import type { RedisConnection } from '#redis';

/** Keys of a queue in Redis, and the connection for its scripts. */
export interface QueueContext {
  readonly redis: RedisConnection;
  /** BullMQ's keys of the queue by type. */
  readonly keys: Readonly<Record<string, string | undefined>>;
  /** Makes the key of any other type. */
  readonly toKey: (type: string) => string;
}

/** Context of a worker's queue. Jobs are fetched before they get a loop, so all loops share one lock token. */
export interface WorkerQueueContext extends QueueContext {
  readonly lockToken: string;
  /** Lifetime of the lock of fetched jobs without a renewal; equal to the Worker's lock duration. */
  readonly lockMs: number;
}

/** KEYS of the scripts that dequeue, in the order of includes/complete-and-dequeue.lua. */
export function dequeueKeys({ keys, toKey }: QueueContext): string[] {
  const { wait = '', active = '', prioritized = '', stalled = '', meta = '', marker = '' } = keys;
  return [wait, active, prioritized, stalled, meta, marker, toKey('fair')];
}

/** BullMQ's keys of these types. */
export function keysOf({ keys }: QueueContext, ...types: readonly string[]): string[] {
  return types.map((type) => keys[type] ?? '');
}
