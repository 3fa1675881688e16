import type { RedisConnection } from '#redis';

/** One queue in Redis: its keys and the connection for its scripts. */
export interface QueueContext {
  readonly redis: RedisConnection;
  /** BullMQ's keys of the queue by their type. */
  readonly keys: Readonly<Record<string, string | undefined>>;
  /** The key of any other type. */
  readonly toKey: (type: string) => string;
}

/** A worker's view of a queue. Jobs are fetched before it is known which loop runs them, so one lock token serves all. */
export interface WorkerQueueContext extends QueueContext {
  readonly lockToken: string;
  /** How long fetched jobs are this worker's without a renewal; equal to the Worker's lock duration. */
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
