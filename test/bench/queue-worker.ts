import { Worker } from 'bullmq';
import { startConsumer } from '#queue';

/**
 * The worker process of the queue contenders: `node queue-worker.js <raw|stock|batching> <redisUrl> <concurrency>`.
 * Tells its parent, once a turn of the event loop, which jobs are done: raw BullMQ when it says `completed`, ours when
 * the handler returns, which is when a call's End stands in the log.
 */
const [kind, redisUrl = '', concurrency = '50'] = process.argv.slice(2);
let done: string[] = [];

function tell(id: string): void {
  if (done.push(id) > 1) return;
  setImmediate(() => {
    process.send?.(done);
    done = [];
  });
}

if (kind === 'raw') {
  const worker = new Worker('raw', async (job) => job.data, {
    connection: { url: redisUrl, maxRetriesPerRequest: null },
    concurrency: Number(concurrency),
  });
  worker.on('completed', (job) => tell(job.id ?? ''));
  worker.on('error', (error) => console.error(error));
  await worker.waitUntilReady();
} else {
  startConsumer({ redisUrl, backend: kind === 'stock' ? 'stock' : 'batching', onError: console.error })(
    'read',
    Number(concurrency),
    async (job) => tell(job.callId),
  );
}
process.send?.('ready');
