import { expect, it } from '@jest/globals';
import type { CallJob } from '#contracts';
import type { CallState } from '#event-log';
import type { CallHandler } from '#queue';
import { ConnectedWorker } from './connected-worker.js';
import { WorkerQueue } from './worker-queue.js';

it('runs a job that arrived before the accept of its call', async () => {
  const principal = { keyId: 'k', tenantId: 't', scopes: [], tools: [] } as unknown as ConnectedWorker['principal'];
  const add = { name: 'add', description: '', input: {} };
  const worker = new ConnectedWorker(principal, { worker: 'w', sdk: 'test' }, [add], { send: () => {}, close: () => {} });
  worker.session.receive({ op: 'credit', pool: 'net', n: 1 });
  const accepted = { status: 'queued', attempt: 0, meta: { tool: 'add' } } as CallState;
  const answers = [undefined, undefined, accepted];
  const ran: CallJob[] = [];
  let handler: CallHandler | undefined;
  const queue = new WorkerQueue('q', 'net', new Set([worker]), {
    startConsumer: (_queue, _slots, handle) => {
      handler = handle;
      return { running: 0, setConcurrency: () => {}, close: async () => {} };
    },
    store: { snapshot: async () => answers.shift() },
    followUp: { dispatchLater: () => {}, dispatchAsAccepted: async () => {} },
    runAttempt: async (job) => void ran.push(job),
  });
  queue.update();
  await handler?.({ callId: 'c', attempt: 1 }, undefined);
  expect(ran).toEqual([{ callId: 'c', attempt: 1 }]);
});
