import { QueueKeys } from 'bullmq';
import { POOLS, type Pool } from '#contracts';
import type { RedisConnection } from '#redis';
import { queueName } from './bull-settings.js';
import { moveQueueScript } from './queue-scripts.js';

/** All queues had this name in BullMQ, and only their prefixes differed. */
const LEGACY_NAME = 'calls';
/** Redis does nothing else while it moves so many. */
const JOBS_A_SCRIPT = 1_000;

/**
 * The queues of releases in which all queues had one name. A process empties them once, before it takes or makes calls:
 * else their calls would wait for the reconciler, at most ten minutes. Processes of such a release go on with their own
 * queues meanwhile.
 */
export class LegacyQueues {
  constructor(private readonly redis: RedisConnection) {}

  /** Moves their jobs to the queues of today and deletes their keys. Returns how many jobs were moved. Safe to repeat. */
  async drain(): Promise<number> {
    const moved = await Promise.all(POOLS.map((pool) => this.drainPool(pool)));
    return moved.reduce((sum, jobs) => sum + jobs, 0);
  }

  private async drainPool(pool: Pool): Promise<number> {
    const { name, prefix } = queueName(pool);
    const layout = new QueueKeys(prefix);
    const from = (...types: string[]) => types.map((type) => layout.toKey(LEGACY_NAME, type));
    const to = (...types: string[]) => types.map((type) => layout.toKey(name, type));
    const keys = [
      ...from('wait', 'active', 'prioritized', 'fair', 'meta'),
      ...to('wait', 'prioritized', 'fair', 'meta', 'marker'),
      ...Object.values(layout.getKeys(LEGACY_NAME)),
      ...from('fair'),
    ];
    for (let total = 0; ;) {
      const answer = await moveQueueScript.run(this.redis, keys, [...from(''), ...to(''), JOBS_A_SCRIPT]);
      const [moved, left] = Array.isArray(answer) ? answer.map(Number) : [];
      total += moved ?? 0;
      if (!left) return total;
    }
  }
}
