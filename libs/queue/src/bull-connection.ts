import { QueueKeys, RedisConnection as BullConnection, RedisQueueBackend, type BackendFactory } from 'bullmq';
import type { RedisConnection } from '#redis';
import { BatchingBackend } from './batching-backend.js';
import type { QueueBackend } from './bull-settings.js';
import { defineQueueScripts } from './queue-scripts.js';

/** The version check would be a command sent before the connection stands, which a producer's connection refuses. */
const SETTINGS = { skipVersionCheck: true, skipWaitingForReady: true } as const;

/** For producers: many queues on one client, which stays the caller's to close. */
export function producerBackend(client: RedisConnection, backend: QueueBackend, prefix: string): BackendFactory<RedisQueueBackend> {
  return (name, options) => {
    if (backend === 'batching') defineQueueScripts(client);
    const connection = new BullConnection(client, { ...SETTINGS, shared: true, blocking: false });
    return openBackend(backend, connection, name, { ...options, prefix });
  };
}

/** The clients of one Worker; `blocking` waits on the marker. Those that are not shared are closed with the backend. */
export interface WorkerClients {
  readonly command: RedisConnection;
  readonly blocking: RedisConnection;
  readonly commandIsShared: boolean;
}

export function workerBackend(
  { command, blocking, commandIsShared }: WorkerClients,
  backend: QueueBackend,
  prefix: string,
): BackendFactory<RedisQueueBackend> {
  return (name, options) => {
    if (backend === 'batching') defineQueueScripts(command);
    const connection = new BullConnection(command, { ...SETTINGS, shared: commandIsShared });
    return openBackend(backend, connection, name, { ...options, prefix }, new BullConnection(blocking, { ...SETTINGS, shared: false }));
  };
}

type BackendOptions = Parameters<BackendFactory>[1] & { readonly prefix: string };

function openBackend(
  backend: QueueBackend,
  connection: BullConnection,
  name: string,
  options: BackendOptions,
  blocking?: BullConnection,
): RedisQueueBackend {
  const layout = new QueueKeys(options.prefix);
  const Backend = backend === 'batching' ? BatchingBackend : RedisQueueBackend;
  return new Backend(connection, name, layout.getKeys(name), (type) => layout.toKey(name, type), options, blocking);
}
