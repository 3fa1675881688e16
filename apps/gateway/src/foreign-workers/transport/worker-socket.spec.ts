import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { ProblemError, WorkerServerFrame, type Principal, type WorkerFrame } from '#contracts';
import { MessageBudget } from '#timing';
import type { ConnectedWorker } from '../bridge/connected-worker.js';
import { WORKER_SOCKET_OPTIONS, WorkerSocket } from './worker-socket.js';

const HELLO = JSON.stringify({ op: 'hello', protocol: 'toolyard-worker/1', worker: 'w', sdk: 'test', tools: [] });
const PONG = JSON.stringify({ op: 'pong' });
const WELCOME = { op: 'welcome', workerId: 'f-1', leaseMs: 1, heartbeatMs: 1, tools: [], problems: [] } as const;
const FLOOD = 30_000;

let server: WebSocketServer | undefined;
afterEach(() => {
  for (const client of server?.clients ?? []) client.terminate();
  server?.close();
});

/** Connection of a worker whose budget is never refilled, and its effects. */
async function connection() {
  const received: WorkerFrame[] = [];
  const floods: string[] = [];
  let turns = 0;
  let sinceTurn = 0;
  let longest = 0;
  let opened: WorkerSocket | undefined;
  const wasFull: boolean[] = [];
  const workers = {
    connect: async () => ({ worker: {} as ConnectedWorker, welcome: { ...WELCOME, tools: [], problems: [] } }),
    receive: (_worker: ConnectedWorker, frame: WorkerFrame) => {
      received.push(frame);
      longest = Math.max(longest, ++sinceTurn);
    },
    disconnect: async () => {},
    updateQueues: () => void wasFull.push(opened?.isFull === true),
    flooded: (_principal: Principal, _worker: ConnectedWorker | undefined, why: string) => {
      floods.push(why);
      return new ProblemError('too_many_requests', why, { retryAfterMs: 2_000 });
    },
  };
  server = new WebSocketServer({ host: '127.0.0.1', port: 0, ...WORKER_SOCKET_OPTIONS });
  server.on('connection', (socket) => {
    const count = () => {
      turns += 1;
      sinceTurn = 0;
      if (socket.readyState === socket.OPEN) setImmediate(count);
    };
    count();
    opened = new WorkerSocket(socket, { keyId: 'k', tenantId: 't' } as Principal, workers, new MessageBudget(() => 0));
  });
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/v1/worker`);
  const frames: WorkerServerFrame[] = [];
  client.on('message', (data: Buffer) => frames.push(WorkerServerFrame.parse(JSON.parse(data.toString()))));
  client.on('error', () => {});
  const closed = once(client, 'close').then(([code]) => code as number);
  await once(client, 'open');
  return { client, frames, received, floods, closed, wasFull, opened, looks: () => ({ turns, longest }) };
}

it.each([
  ['frames', HELLO, PONG, FLOOD],
  ['large frames', HELLO, JSON.stringify({ op: 'renew', callIds: ['x'.repeat(1_000_000)], fences: [1] }), 200],
])('stops a foreign worker that floods with %s, once, and ignores its further frames', async (_what, hello, frame, times) => {
  const { client, frames, received, floods, closed } = await connection();
  client.send(hello);
  // Waits without the hello timeout: a busy machine may take longer to send the flood.
  await once(client, 'message');
  for (let sent = 0; sent < times; sent += 1) client.send(frame);
  expect(await closed).toBe(4_002);
  expect(floods).toEqual([expect.stringMatching(/more than \d+ messages a second/)]);
  expect(received.length).toBeLessThan(20_000);
  expect(frames.at(-1)).toMatchObject({ op: 'refused', problem: { code: 'too_many_requests' } });
});

it('handles one frame of a foreign worker per turn of the event loop', async () => {
  const { client, received, looks, closed } = await connection();
  client.send(HELLO);
  for (let sent = 0; sent < 5_000; sent += 1) client.send(PONG);
  client.send(JSON.stringify({ op: 'bye' }));
  while (received.at(-1)?.op !== 'bye') await new Promise((resolve) => setImmediate(resolve));
  client.close();
  await closed;
  // Frames before `welcome` are handled together.
  expect(looks().longest).toBeLessThanOrEqual(100);
});

it('answers at most 100 malformed frames of a foreign worker, then closes the connection', async () => {
  const { client, frames, received, closed } = await connection();
  client.send(HELLO);
  for (let sent = 0; sent < 1_000; sent += 1) client.send('{"op":');
  for (let sent = 0; sent < 1_000; sent += 1) client.send(PONG);
  expect(await closed).toBe(4_003);
  expect(frames.filter(({ op }) => op === 'refused').length).toBe(100);
  expect(received).toEqual([]);
});

it('counts as full above 16 MiB that a foreign worker has not read, and closes above 64', async () => {
  const { client, wasFull, opened } = await connection();
  client.send(HELLO);
  await once(client, 'message');
  const send = () =>
    opened?.send({
      op: 'call',
      callId: '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V',
      fence: 1,
      attempt: 1,
      tool: 't',
      arguments: { text: 'x'.repeat(1_000_000) },
      deadlineMs: 1,
    });
  client.pause();
  for (let sent = 0; sent < 100 && wasFull.length === 0; sent += 1) send();
  client.resume();
  while (wasFull.length < 2) await new Promise((resolve) => setImmediate(resolve));
  expect(wasFull).toEqual([true, false]);
  client.pause();
  // The system takes some of them.
  for (let sent = 0; sent < 200; sent += 1) send();
  expect([...(server?.clients ?? [])].map(({ readyState }) => readyState)).toEqual([WebSocket.CLOSING]);
});
