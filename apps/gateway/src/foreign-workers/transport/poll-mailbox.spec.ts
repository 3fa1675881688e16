import { expect, it } from '@jest/globals';
import type { WorkerServerFrame } from '#contracts';
import { PollMailbox } from './poll-mailbox.js';

const LARGE = { op: 'done', callId: 'x'.repeat(1_000_000), fence: 1 } satisfies WorkerServerFrame;

it('keeps no more bytes for a foreign worker that does not poll than 64 MiB, after which it counts as gone', () => {
  let closed = 0;
  const mailbox = new PollMailbox(() => (closed += 1));
  for (let sent = 0; sent < 67; sent += 1) mailbox.send(LARGE);
  expect(closed).toBe(0);
  for (let sent = 0; sent < 10; sent += 1) mailbox.send(LARGE);
  expect(closed).toBe(1);
});

it('keeps a foreign worker that polls, however much it has got', async () => {
  let closed = 0;
  const mailbox = new PollMailbox(() => (closed += 1));
  let after = 0;
  for (let sent = 0; sent < 200; sent += 1) {
    mailbox.send(LARGE);
    ({ seq: after } = await mailbox.poll(after, 0, new AbortController().signal));
  }
  expect([closed, after]).toEqual([0, 200]);
});
