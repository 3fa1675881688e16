import type { Pool } from '#contracts';
import { keys } from '#redis';

/** Where BullMQ keeps a part of the queue of a pool, such as `prioritized`: for tests that look into it or break it. */
export function queueKey(pool: Pool, part: string): string {
  return `${keys.queuePrefix(pool)}:${keys.queueName(pool)}:${part}`;
}
