import { EventEmitter } from 'node:events';
import { expect, it } from '@jest/globals';
import { FairTurns, LARGE_SIZE } from '../../platform/fair-turns.service.js';
import { FrameFlow } from './frame-flow.js';
import { StreamAdapter } from './stream.adapter.js';

it('reads large frames of sockets in turns, tenant after tenant, in the order of each socket, and others between them', async () => {
  const read: string[] = [];
  const sessions = new Map<EventEmitter, object>();
  const adapter = new StreamAdapter({} as never, (client) => sessions.get(client) as never, new FairTurns());
  const socket = (tenantId: string) => {
    const client = Object.assign(new EventEmitter(), { pause: () => {}, resume: () => {}, isPaused: false });
    const flow = new FrameFlow(client, { burst: 100, inFlight: 100 }, () => {});
    sessions.set(client, { flow, tenantId, receive: (data: Buffer) => void read.push(data.toString().trim()) });
    adapter.bindMessageHandlers(client as never, []);
    return (name: string, isLarge = true) => client.emit('message', Buffer.from(name.padEnd(isLarge ? LARGE_SIZE + 1 : LARGE_SIZE)), false);
  };
  const [first, second, third] = [socket('a'), socket('a'), socket('b')];
  for (const name of ['a1', 'a2', 'a3']) first(name);
  first('a4', false);
  second('A1');
  second('A2');
  third('b1');
  third('b2');
  socket('c')('c1', false);
  expect(read).toEqual(['c1']);
  const others = async () => {
    for (let n = 0; n < 20; n++) await new Promise<void>((resolve) => setImmediate(resolve)).then(() => read.push('-'));
  };
  await others();
  const order = read.filter((name) => name !== '-');
  expect(order.slice(0, 3)).toEqual(['c1', 'a1', 'b1']);
  for (const own of ['a1 a2 a3 a4', 'A1 A2', 'b1 b2']) expect(order.filter((name) => own.split(' ').includes(name)).join(' ')).toBe(own);
  const large = read.filter((name) => name !== 'a4' && name !== 'c1');
  expect(large.filter((name, at) => name !== '-' && large[at + 1] !== '-')).toEqual([]);
});
