import { Queue } from 'bullmq';
import { BullCallQueue, startConsumer, type QueueBackend } from '#queue';
import { keys } from '#redis';
import { connected } from '../support/connected.js';
import type { QueueUnderTest } from './queue.contract.js';

/** The queue library with one backend on the side that adds jobs and one on the side that runs them. */
export function bullQueue(name: string, producer: QueueBackend, worker: QueueBackend): QueueUnderTest {
  return {
    name,
    jobsUnderLoad: producer === 'batching' && worker === 'batching' ? 10_000 : 4_000,
    openQueue: (redisUrl) => connected(new BullCallQueue({ redisUrl, backend: producer })),
    consume: (redisUrl, slots, handler) => startConsumer({ redisUrl, backend: worker, onError: () => {} })('read', slots, handler),
    obliterate: async (redisUrl) => {
      const queue = new Queue(keys.queueName('read'), { prefix: keys.queuePrefix('read'), connection: { url: redisUrl } });
      await queue.pause();
      await queue.obliterate({ force: true });
      await queue.close();
    },
  };
}
