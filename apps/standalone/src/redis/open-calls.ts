import { CallStore } from '#event-log';
import { createRedis, keys, partitionName } from '#redis';

/** Most counted calls of one partition; one machine does not leave more of them open. */
const MOST = 10_000;

/** How many calls have not ended. */
export async function countOpenCalls(url: string, partitions: number): Promise<number> {
  const redis = createRedis(url, { name: 'standalone-stop' });
  try {
    const calls = new CallStore(redis);
    const open = async (index: number) => {
      const ids = await redis.zrange(keys.outbox(partitionName(index)), 0, String(MOST - 1));
      const states = await Promise.all(ids.map((id) => calls.snapshot(id)));
      return states.filter((state) => state !== undefined && state.status !== 'ended').length;
    };
    const counts = await Promise.all(Array.from({ length: partitions }, (_, index) => open(index)));
    return counts.reduce((sum, count) => sum + count, 0);
  } finally {
    redis.disconnect();
  }
}
