import { Queue, Worker } from 'bullmq';
import { BullCallQueue } from '#queue';
import type { Contender } from './load.js';
import { endProcess, forkReady, type StartRedis } from './processes.js';

const PAYLOAD = 'x'.repeat(100);
const CONCURRENCY = '50';

function openQueue(url: string): Queue {
  return new Queue('raw', { connection: { url }, defaultJobOptions: { removeOnComplete: true, removeOnFail: true } });
}

/** Raw BullMQ in one process: the producer and its Worker share an event loop, and `completed` costs nothing to learn. */
export async function startRawInProcess(startRedis: StartRedis): Promise<Contender> {
  const redis = await startRedis();
  const queue = openQueue(redis.url);
  const connection = { url: redis.url, maxRetriesPerRequest: null };
  const worker = new Worker('raw', async (job) => job.data, { connection, concurrency: Number(CONCURRENCY) });
  let done: (ids: readonly string[]) => void = () => {};
  worker.on('completed', (job) => done([job.id ?? '']));
  worker.on('error', (error) => console.error(error));
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
  return {
    name: 'raw BullMQ, in-process',
    redisUrl: redis.url,
    processes: { redis: redis.pid ?? 0, client: process.pid },
    start: async () => (await queue.add('call', { text: PAYLOAD })).id ?? '',
    onDone: (listener) => {
      done = listener;
    },
    close: async () => {
      await Promise.all([queue.close(), worker.close()]);
      await redis.stop();
    },
  };
}

/** Raw BullMQ as its guide shows it: one producer, one Worker with 50 slots in its own process, which tells over a pipe what is done. */
export async function startRawQueue(startRedis: StartRedis): Promise<Contender> {
  const redis = await startRedis();
  const queue = openQueue(redis.url);
  await queue.waitUntilReady();
  const worker = await forkReady('./queue-worker.js', ['raw', redis.url, CONCURRENCY]);
  return {
    name: 'raw BullMQ, piped',
    redisUrl: redis.url,
    processes: { redis: redis.pid ?? 0, worker: worker.pid ?? 0, client: process.pid },
    start: async () => (await queue.add('call', { text: PAYLOAD })).id ?? '',
    onDone: (listener) => onlyListener(worker, listener),
    close: async () => {
      await queue.close();
      await endProcess(worker);
      await redis.stop();
    },
  };
}

/** Queue library of this project alone: ids in, ids out. */
export async function startOurQueue(startRedis: StartRedis, backend: 'batching' | 'stock'): Promise<Contender> {
  const redis = await startRedis();
  const queue = new BullCallQueue({ redisUrl: redis.url, backend });
  const worker = await forkReady('./queue-worker.js', [backend, redis.url, CONCURRENCY]);
  return {
    name: `queue alone, ${backend}`,
    redisUrl: redis.url,
    processes: { redis: redis.pid ?? 0, worker: worker.pid ?? 0, client: process.pid },
    start: async () => {
      const callId = nextCallId();
      await queue.dispatch('read', { callId, attempt: 1 }, 'normal');
      return callId;
    },
    onDone: (listener) => onlyListener(worker, listener),
    close: async () => {
      await queue.close();
      await endProcess(worker);
      await redis.stop();
    },
  };
}

let calls = 0;

/** A fresh id in the form of a call id, which costs next to nothing to make. */
function nextCallId(): string {
  return `00-${String(calls++).padStart(26, '0')}`;
}

function onlyListener(worker: NodeJS.EventEmitter, listener: (ids: readonly string[]) => void): void {
  worker.removeAllListeners('message');
  worker.on('message', listener);
}
