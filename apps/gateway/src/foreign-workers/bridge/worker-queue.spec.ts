import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { CallJob } from '#contracts';
import type { CallState } from '#event-log';
import type { CallHandler } from '#queue';
import { PollMailbox } from '../transport/poll-mailbox.js';
import { ConnectedWorker, type WorkerTransport } from './connected-worker.js';
import { WorkerQueue } from './worker-queue.js';

const principal = { keyId: 'k', tenantId: 't', scopes: [], tools: [] } as unknown as ConnectedWorker['principal'];
const add = { name: 'add', description: '', input: {} };
const workerWith = (transport: WorkerTransport) => new ConnectedWorker(principal, { worker: 'w', sdk: 'test' }, [add], transport);

it('runs a job that arrived before the accept of its call', async () => {
  const worker = workerWith({ isFull: false, send: () => {}, close: () => {} });
  worker.session.receive({ op: 'credit', pool: 'net', n: 1 });
  const accepted = { status: 'queued', attempt: 0, meta: { tool: 'add' }, openBytes: 10 } as CallState;
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

it.each([
  ['of known size', 1_000_000],
  ['without a limit of their tenant', 0],
])('sends a polling worker 100 large calls %s, as fast as it reads them, and does not count it as gone', async (_which, openBytes) => {
  let closed = 0;
  let handler: CallHandler | undefined;
  const mailbox: PollMailbox = new PollMailbox(
    () => (closed += 1),
    () => queue.update(),
  );
  const worker = workerWith(mailbox);
  worker.session.receive({ op: 'credit', pool: 'net', n: 200 });
  const queue = new WorkerQueue('q', 'net', new Set([worker]), {
    startConsumer: (_queue, _slots, handle) => {
      handler = handle;
      return { running: 0, setConcurrency: () => {}, close: async () => {} };
    },
    store: { snapshot: async () => ({ status: 'queued', attempt: 0, meta: { tool: 'add' }, openBytes }) as CallState },
    followUp: { dispatchLater: () => {}, dispatchAsAccepted: async () => {} },
    runAttempt: async ({ callId }, { release }) => {
      // A claim takes a while: others are about to be sent as well.
      await turn();
      const frame = { callId, fence: 1, attempt: 1, tool: 'add', arguments: { text: 'x'.repeat(1_000_000) }, deadlineMs: 1_000 };
      for (const effect of worker.session.assign({ op: 'call', ...frame }, 'net')) if (effect.kind === 'send') mailbox.send(effect.frame);
      release();
    },
  });
  queue.update();
  const ran = Array.from({ length: 100 }, async (_unused, index) => handler?.({ callId: `c${index}`, attempt: 1 }, undefined));
  while (!mailbox.isFull) await turn();
  const read = new Set<string>();
  for (let after = 0; read.size < 100 && closed === 0; await turn()) {
    const page = await mailbox.poll(after, 0, new AbortController().signal);
    for (const frame of page.frames) if (frame.op === 'call') read.add(frame.callId);
    after = page.seq;
  }
  expect([closed, read.size]).toEqual([0, 100]);
  await Promise.all(ran);
  await queue.close();
});
