import { QueueKeys, RedisConnection as BullConnection, RedisQueueBackend, type BackendFactory } from 'bullmq';
import type { RedisConnection } from '#redis';
import { BatchingProducerBackend } from './batching-producer.js';
import { BatchingWorkerBackend, type BatchingWorkerOptions } from './batching-worker.js';
import type { QueueBackend } from './bull-settings.js';

/** BullMQ's version check would send a command before the connection is ready, which a producer's connection refuses. */
const SETTINGS = { skipVersionCheck: true, skipWaitingForReady: true } as const;

/** Backend of a producer: many queues share one client, which the caller closes. `dequeueHook` is for the batching backend. */
export function producerBackend(
  client: RedisConnection,
  backend: QueueBackend,
  prefix: string,
  dequeueHook?: string,
): BackendFactory<RedisQueueBackend> {
  return (name, options) => {
    const base = baseOf(prefix, name, options, new BullConnection(client, { ...SETTINGS, shared: true, blocking: false }));
    return backend === 'batching' ? new BatchingProducerBackend({ redis: client, dequeueHook }, ...base) : new RedisQueueBackend(...base);
  };
}

/** Clients of one Worker; `blocking` waits on the marker. Clients that are not shared are closed with the backend. */
export interface WorkerClients {
  readonly command: RedisConnection;
  readonly blocking: RedisConnection;
  readonly commandIsShared: boolean;
}

/** Backend of a Worker: with `batching` ours, else BullMQ's own. */
export function workerBackend(
  { command, blocking, commandIsShared }: WorkerClients,
  prefix: string,
  batching: Omit<BatchingWorkerOptions, 'redis'> | undefined,
): BackendFactory<RedisQueueBackend> {
  return (name, options) => {
    const connection = new BullConnection(command, { ...SETTINGS, shared: commandIsShared });
    const base = baseOf(prefix, name, options, connection, new BullConnection(blocking, { ...SETTINGS, shared: false }));
    return batching ? new BatchingWorkerBackend({ ...batching, redis: command }, ...base) : new RedisQueueBackend(...base);
  };
}

function baseOf(
  prefix: string,
  name: string,
  options: Parameters<BackendFactory>[1],
  connection: BullConnection,
  blocking?: BullConnection,
): ConstructorParameters<typeof RedisQueueBackend> {
  const layout = new QueueKeys(prefix);
  const all = { ...options, prefix };
  return [connection, name, layout.getKeys(name), (type) => layout.toKey(name, type), all, blocking];
}
