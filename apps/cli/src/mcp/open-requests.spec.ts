import { expect, it } from '@jest/globals';
import { OpenRequests } from './open-requests.js';

const never = new AbortController().signal;

it('waits for the answer of each open request of an MCP client, also of requests that arrive during the wait', async () => {
  const requests = new OpenRequests();
  const order: string[] = [];
  requests.add(1);
  const done = requests.allAnswered(60_000, never).then(() => order.push('all'));
  requests.add(2);
  requests.end(1);
  await requests.answered(1);
  order.push('first');
  requests.end(2);
  requests.end(2);
  await done;
  expect(order).toEqual(['first', 'all']);
});

it('stops to wait for the requests of an MCP client when it is interrupted, and does not wait for unknown ones', async () => {
  const requests = new OpenRequests();
  await requests.answered(7);
  await requests.answered(undefined);
  requests.add(1);
  const interrupted = new AbortController();
  const done = requests.allAnswered(60_000, interrupted.signal);
  interrupted.abort();
  await done;
});
