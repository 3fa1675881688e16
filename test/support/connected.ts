import type { CallQueue } from '#queue';
import { eventually } from './eventually.js';

/** Resolves when its connection stands, by a look at the pool. The first commands wait for it, but not for as long as a busy machine may need. */
export async function connected<Queue extends Pick<CallQueue, 'waitingCount'>>(queue: Queue, pool = 'read'): Promise<Queue> {
  const isConnected = async () => (await queue.waitingCount(pool).catch(() => undefined)) !== undefined;
  await eventually(isConnected, 'the connection to stand');
  return queue;
}
