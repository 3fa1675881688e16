import type { Pool } from '#contracts';
import { keys } from '#redis';

/** Key of a part of BullMQ's queue of a pool, such as `prioritized`: for tests that read or damage it. */
export function queueKey(pool: Pool, part: string): string {
  return `${keys.queuePrefix(pool)}:${keys.queueName(pool)}:${part}`;
}
