// Run by worker.spec.ts from the built code: holds a lease, blocks this thread for two leases, and tells what became of it.
import { CallStore, EventLog } from '../../dist/libs/event-log/src/index.js';
import { createRedis } from '../../dist/libs/redis/src/index.js';
import { LeaseRenewer, renewInThread } from '../../dist/libs/attempts/src/leases/lease-renewer.js';

const [redisUrl, callId] = process.argv.slice(2);
const partitions = 16;
const leaseMs = 2_000;
const redis = createRedis(redisUrl, { name: 'blocked' });
const log = await EventLog.open(redis, { partitions });
const heard = [];
let ready;
const up = new Promise((resolve) => (ready = resolve));
const start = renewInThread({ redisUrl, partitions, leaseMs, name: 'blocked' });
const leases = new LeaseRenewer(
  4,
  (table, notify, failed) => start(table, (notice) => (ready(), notify(notice)), failed),
  (error) => heard.push(String(error)),
);

const claimed = await log.claim({
  callId,
  attempt: 1,
  leaseMs: 60_000,
  worker: 'blocked',
  author: { source: '/worker/blocked', actor: 'worker:blocked' },
});
// A lease with a wrong fence is refused at its first renewal: then the thread is known to be up.
const releaseProbe = leases.hold(callId, claimed.fence + 7, { lost: () => {}, cancelRequested: () => {} });
await up;
releaseProbe();
const release = leases.hold(callId, claimed.fence, { lost: () => heard.push('lost'), cancelRequested: () => heard.push('cancel') });

Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * leaseMs);

const snapshot = await new CallStore(redis, { partitions }).snapshot(callId);
const [seconds, micros] = await redis.time();
const leftMs = snapshot.leaseUntil - (seconds * 1000 + micros / 1000);
release();
await leases.close();
await log.close();
redis.disconnect();
console.log(JSON.stringify({ heard, leftMs, leaseMs }));
