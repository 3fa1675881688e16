import { QueueKeys, RedisConnection as BullConnection, RedisQueueBackend, type BackendFactory } from 'bullmq';
import type { RedisConnection } from '#redis';
import { BatchingProducerBackend } from './batching-producer.js';
import { BatchingWorkerBackend, type BatchingWorkerOptions } from './batching-worker.js';
import type { QueueBackend } from './bull-settings.js';

/** The version check would be a command sent before the connection is ready, which a producer's connection refuses. */
const SETTINGS = { skipVersionCheck: true, skipWaitingForReady: true } as const;

/** For producers: many queues on one client, which the caller closes. `dequeueHook` is for the batching backend. */
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

/** The clients of one Worker; `blocking` waits on the marker. Those that are not shared are closed with the backend. */
export interface WorkerClients {
  readonly command: RedisConnection;
  readonly blocking: RedisConnection;
  readonly commandIsShared: boolean;
}

/** `batching` has the options of our backend; without it the backend is BullMQ's own. */
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
