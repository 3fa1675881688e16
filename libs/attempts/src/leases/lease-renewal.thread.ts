import { parentPort, workerData } from 'node:worker_threads';
import { EventLog } from '#event-log';
import { createRedis } from '#redis';
import { LeaseTable } from './lease-table.js';
import { RenewalLoop } from './renewal-loop.js';
import { LeaseThreadData } from './lease-renewer.js';

/**
 * Entry of the renewing thread: its own event loop and its own connection, so neither a tool that computes nor a
 * connection full of updates delays a renewal. Ends when the parent says so.
 */
const data = LeaseThreadData.parse(workerData);
const port = parentPort;
if (!port) throw new Error('The lease renewal thread is started by the worker, not by hand.');

const redis = createRedis(data.redisUrl, { name: `${data.name}-leases` });
for (const [event, connected] of [
  ['ready', true],
  ['close', false],
] as const)
  redis.on(event, () => port.postMessage({ connected }));
const log = new EventLog(redis, { partitions: data.partitions });
const loop = new RenewalLoop(log, new LeaseTable(data.memory), data.leaseMs, (notice) => port.postMessage(notice));

port.once('message', () => {
  loop.close();
  redis.disconnect();
  port.close();
});
