import { parentPort, workerData } from 'node:worker_threads';
import { EventLog } from '#event-log';
import { createRedis } from '#redis';
import { LeaseTable } from './lease-table.js';
import { RenewalLoop } from './renewal-loop.js';
import { LeaseThreadData } from './lease-renewer.js';

/**
 * Entry of the renewing thread. Its own event loop and connection keep renewals independent of tools that block their thread
 * and of connections full of updates. Ends at a message of the parent.
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
const log = new EventLog(redis, { partitions: data.partitions, onDiskFault: (refusal) => port.postMessage({ refusal }) });
const loop = new RenewalLoop(log, new LeaseTable(data.memory), data.leaseMs, (event) => port.postMessage(event));

port.once('message', () => {
  loop.close();
  redis.disconnect();
  port.close();
});
