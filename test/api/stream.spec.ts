import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { CLOSE_CODES, LIMITS, ServerFrame, type CallEvent } from '#contracts';
import { Agent, Stream } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

let tenant: Tenant;
let stranger: Tenant;
let agent: Agent;
const open: Stream[] = [];

const KEYS = {
  // Limited key, counted in Redis: each frame waits for a round trip before it is accepted.
  counted: { scopes: ['submit' as const, 'read' as const], ratePerMinute: 100_000 },
  reader: { scopes: ['read' as const] },
};

beforeAll(async () => {
  tenant = await useTenant('stream', { held: true, keys: KEYS });
  stranger = await useTenant('stream-rival');
  agent = tenant.agent;
});
afterEach(() => open.splice(0).forEach((stream) => stream.close()));
afterAll(async () => {
  await tenant?.close();
  await stranger?.close();
});

async function connect(key = agent.key): Promise<Stream> {
  const stream = new Stream(tenant.url, key);
  open.push(stream);
  await stream.opened;
  await stream.frame('ready');
  return stream;
}

const isEnd = ({ event }: { event: CallEvent }) => event.type === 'call.end';
const idsOf = (events: readonly { event: CallEvent }[]) => events.map(({ event }) => event.id);

describe('the stream', () => {
  it('answers a submission with the call, then its events in order, and nothing after the End [EV-07]', async () => {
    const stream = await connect();
    stream.send({ op: 'submit', id: 's', call: { tool: 'held', arguments: { a: 1 } } });
    const { call } = await stream.frame('accepted', 's');
    const attempt = await tenant.held.claim(call.id);
    attempt.update('half\n');
    await attempt.end('whole');
    await eventually(() => stream.events('s').some(isEnd), 'the End');
    expect(stream.events('s').map(({ event }) => event.type)).toEqual(['call.submitted', 'call.start', 'call.update', 'call.end']);
    for (const { frame } of stream.frames) expect(ServerFrame.parse(frame)).toBeDefined();
    stream.send({ op: 'submit', id: 's', call: { tool: 'held' } });
    await eventually(() => stream.frames.filter(({ frame }) => frame.op === 'accepted').length === 2, 'the id to be free again');
  });

  it('returns the existing call for a repeated submission, from its first event', async () => {
    const stream = await connect();
    const submit = { op: 'submit', call: { tool: 'held', arguments: { once: 1 } }, idempotencyKey: 'stream-once' };
    stream.send({ ...submit, id: 1 });
    const first = await stream.frame('accepted', 1);
    await tenant.held.run(first.call.id);
    await eventually(() => stream.events(1).some(isEnd), 'the End');
    stream.send({ ...submit, id: 2 });
    expect((await stream.frame('accepted', 2)).call.id).toBe(first.call.id);
    await eventually(() => stream.events(2).some(isEnd), 'the End again');
    expect(idsOf(stream.events(2))).toEqual(idsOf(stream.events(1)));
  });

  it('shows a call that has ended before from its first event on', async () => {
    const { body } = await agent.submit('held', {});
    await tenant.held.run(body.id);
    const stream = await connect();
    stream.send({ op: 'subscribe', id: 'late', filter: { callId: body.id } });
    await eventually(() => stream.events('late').some(isEnd), 'the End');
    expect(stream.events('late').map(({ event }) => event)).toEqual(await agent.events(body.id));
  });

  it('continues the stream after a cut without a gap or a duplicate, by call and for the whole tenant [EV-17]', async () => {
    for (const filterOf of [(id: string) => ({ callId: id }), () => ({})]) {
      let stream = await connect();
      stream.send({ op: 'subscribe', id: 'w', filter: {} });
      let cursor = (await stream.frame('subscribed', 'w')).cursor;
      const { body } = await agent.submit('held', {}, { sessionId: `cut-${Math.random()}` });
      const attempt = await tenant.held.claim(body.id);
      const filter = filterOf(body.id);
      const got: string[] = [];
      let first = true;
      for (let cut = 0; cut < 12; cut += 1) {
        stream.close();
        stream = await connect();
        const resume = 'callId' in filter && first ? {} : { cursor };
        first = false;
        stream.send({ op: 'subscribe', id: 'w', filter, ...resume });
        attempt.update(`update ${cut}\n`);
        attempt.update(`update ${cut}, more\n`);
        await eventually(() => stream.events('w').length > 0, 'something new');
        const events = stream.events('w');
        got.push(...idsOf(events));
        cursor = events.at(-1)?.cursor ?? cursor;
      }
      await attempt.end('over');
      await eventually(() => stream.events('w').some(isEnd), 'the End');
      got.splice(got.length, 0, ...idsOf(stream.events('w')).filter((id) => !got.includes(id)));
      expect(got).toEqual((await agent.events(body.id)).map(({ id }) => id));
    }
  });

  it('sends a hundred sockets the same events', async () => {
    const streams = await Promise.all(Array.from({ length: 100 }, () => connect()));
    const { body } = await agent.submit('held', {});
    for (const stream of streams) stream.send({ op: 'subscribe', id: 1, filter: { callId: body.id } });
    await Promise.all(streams.map((stream) => stream.frame('subscribed', 1)));
    await tenant.held.writeEvents([body.id], 25);
    await tenant.held.run(body.id);
    await Promise.all(streams.map((stream) => eventually(() => stream.events(1).some(isEnd), 'the End')));
    const expected = (await agent.events(body.id)).map(({ id }) => id);
    for (const stream of streams) expect(idsOf(stream.events(1))).toEqual(expected);
  });

  it('sends each event in its own frame with a cursor, or several together on request', async () => {
    const { body } = await agent.submit('held', {});
    await tenant.held.writeEvents([body.id], 10);
    await tenant.held.run(body.id);
    const [single, batched] = [await connect(), await connect()];
    single.send({ op: 'subscribe', id: 1, filter: { callId: body.id } });
    batched.send({ op: 'subscribe', id: 1, filter: { callId: body.id }, batch: true });
    for (const stream of [single, batched]) await eventually(() => stream.events(1).some(isEnd), 'the End');
    const opsOf = (stream: Stream) => new Set(stream.frames.map(({ frame }) => frame.op).filter((op) => op.startsWith('event')));
    expect([opsOf(single), opsOf(batched)]).toEqual([new Set(['event']), new Set(['events'])]);
    expect(idsOf(batched.events(1))).toEqual(idsOf(single.events(1)));

    const middle = single.events(1)[10];
    const rest = await connect();
    rest.send({ op: 'subscribe', id: 1, filter: { callId: body.id }, cursor: middle?.cursor });
    await eventually(() => rest.events(1).some(isEnd), 'the End');
    expect(idsOf(rest.events(1))).toEqual(idsOf(single.events(1)).slice(11));
  });

  it('cancels over the stream, and explains a refused call', async () => {
    const stream = await connect();
    stream.send({ op: 'submit', id: 'c', call: { tool: 'held' } });
    const { call } = await stream.frame('accepted', 'c');
    stream.send({ op: 'cancel', id: 'x', callId: call.id, reason: 'enough' });
    expect((await stream.frame('ok', 'x')).call.id).toBe(call.id);
    await eventually(() => stream.events('c').some(isEnd), 'the End');
    stream.send({ op: 'submit', id: 'n', call: { tool: 'no_such_tool' } });
    expect((await stream.frame('error', 'n')).problem).toMatchObject({
      code: 'not_found',
      callId: expect.any(String),
      result: { isError: true },
    });
  });
});

describe('the stream keeps tenants and scopes apart', () => {
  it('hides everything of another tenant from the stream, as if it did not exist [DX-08]', async () => {
    const [own, rival] = [await connect(), await connect(stranger.agent.key)];
    rival.send({ op: 'subscribe', id: 'all', filter: {} });
    rival.send({ op: 'subscribe', id: 'tool', filter: { tool: 'held' } });
    await rival.frame('subscribed', 'tool');
    own.send({ op: 'subscribe', id: 'all', filter: {} });
    await own.frame('subscribed', 'all');
    const { body } = await agent.submit('held', {});
    rival.send({ op: 'subscribe', id: 'one', filter: { callId: body.id } });
    expect((await rival.frame('error', 'one')).problem.code).toBe('resource_not_found');
    rival.send({ op: 'cancel', id: 'stop', callId: body.id });
    expect((await rival.frame('error', 'stop')).problem.code).toBe('resource_not_found');
    await tenant.held.run(body.id);
    await eventually(
      () => own.events('all').some(({ event }) => event.subject === body.id && event.type === 'call.end'),
      "the owner's End",
    );
    rival.send({ op: 'ping', id: 'after' });
    await rival.frame('pong', 'after');
    expect(rival.events()).toEqual([]);
  });

  it('refuses operations of the stream that the key has no scope for', async () => {
    const reader = await connect(tenant.keyOf('reader'));
    reader.send({ op: 'submit', id: 1, call: { tool: 'held' } });
    expect((await reader.frame('error', 1)).problem.code).toBe('forbidden');
    reader.send({ op: 'cancel', id: 2, callId: '00-01JZ8C5W3Q4X9R7T2M6K8N0P1V' });
    expect((await reader.frame('error', 2)).problem.code).toBe('forbidden');
  });
});

describe('the stream accepts the frames of one socket in order', () => {
  const keys: [string, string][] = [
    ['a key that is counted in memory', 'main'],
    ['a key that is counted in Redis', 'counted'],
  ];

  it.each(keys)('accepts fifty submissions sent at once in order, with %s', async (_what, name) => {
    const stream = await connect(tenant.keyOf(name));
    const ids = Array.from({ length: 50 }, (_unused, id) => id);
    const sessionId = `in-order-${Math.random()}`;
    for (const id of ids) stream.send({ op: 'submit', id, call: { tool: 'held', arguments: { id }, sessionId } });
    const accepted = () => stream.frames.flatMap(({ frame }) => (frame.op === 'accepted' ? [frame] : []));
    await eventually(() => accepted().length === ids.length, 'all submissions to be accepted');
    expect(accepted().map(({ id }) => id)).toEqual(ids);
    await eventually(() => ids.every((id) => stream.events(id).length > 0), 'the first event of each call');
    const seqs = ids.map((id) => Number(stream.events(id)[0]?.event.id.split('.')[2]));
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
  });

  it.each(keys)('accepts a subscribe after the unsubscribe of the same id, with %s', async (_what, name) => {
    const stream = await connect(tenant.keyOf(name));
    stream.send({ op: 'subscribe', id: 'w' });
    stream.send({ op: 'unsubscribe', id: 'w' });
    stream.send({ op: 'subscribe', id: 'w' });
    stream.send({ op: 'unsubscribe', id: 'w' });
    stream.send({ op: 'unsubscribe', id: 'w' });
    expect((await stream.frame('error', 'w')).problem.code).toBe('resource_not_found');
    const ops = stream.frames.map(({ frame }) => frame.op).filter((op) => op === 'unsubscribed' || op === 'error');
    expect(ops).toEqual(['unsubscribed', 'unsubscribed', 'error']);
  });

  it('accepts a subscribe sent together with the key', async () => {
    const frames: ServerFrame[] = [];
    const socket = new WebSocket(`${tenant.url.replace('http', 'ws')}/v1/stream`);
    socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString())));
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(JSON.stringify({ op: 'auth', token: tenant.keyOf('counted') }));
    socket.send('{"op":"subscribe","id":1}');
    await eventually(() => frames.length === 2, 'both answers');
    expect(frames.map(({ op }) => op)).toEqual(['ready', 'subscribed']);
    socket.terminate();
  });
});

describe('the stream answers bad input', () => {
  const deep = `{"op":"submit","id":"d","call":{"tool":"held","arguments":${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}}}`;
  it.each<[string, string | Buffer, string]>([
    ['what is not JSON', '{"op":', 'malformed_json'],
    ['an empty text', '', 'invalid_request'],
    ['an array', '[]', 'invalid_request'],
    ['null', 'null', 'invalid_request'],
    ['an unknown op', '{"op":"fly","id":1}', 'invalid_request'],
    ['an op that every JavaScript object has', '{"op":"constructor","id":1}', 'invalid_request'],
    ['an op that is no text', '{"op":["ping"],"id":1}', 'invalid_request'],
    ['an unknown field', '{"op":"ping","id":1,"x":2}', 'invalid_request'],
    ['a missing id', '{"op":"subscribe"}', 'invalid_request'],
    ['an unknown filter', '{"op":"subscribe","id":1,"filter":{"tenantId":"other"}}', 'invalid_request'],
    ['a cursor that is none', '{"op":"subscribe","id":1,"cursor":"no"}', 'invalid_request'],
    ['an id never subscribed', '{"op":"unsubscribe","id":9}', 'resource_not_found'],
    ['an unknown call', '{"op":"cancel","id":1,"callId":"00-01JZ8C5W3Q4X9R7T2M6K8N0P1V"}', 'resource_not_found'],
    ['depth 1,000', deep, 'invalid_request'],
    ['a __proto__ key', '{"op":"submit","id":1,"call":{"tool":"held","arguments":{"__proto__":{"x":1}}}}', 'malformed_json'],
    ['a binary frame', Buffer.from([1, 2, 3]), 'invalid_request'],
  ])('answers bad input of a socket and goes on: %s', async (_what, frame, code) => {
    const stream = await connect();
    stream.socket.send(frame);
    expect((await stream.frame('error')).problem.code).toBe(code);
    stream.send({ op: 'ping', id: 'still' });
    await stream.frame('pong', 'still');
  });

  it.each([
    ['a key of prototypes', '{"__proto__":{"x":1}}'],
    ['half a character', '{"half":"\\ud800"}'],
    ['depth 100', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`],
    ['more items than a frame may have', `{"a":[${'1,'.repeat(25_000)}1]}`],
  ])('answers bad input under the id of a readable frame: %s', async (_what, args) => {
    const stream = await connect();
    stream.socket.send(`{"op":"submit","id":"mine","call":{"tool":"held","arguments":${args}}}`);
    expect((await stream.frame('error', 'mine')).problem.status).toBeGreaterThanOrEqual(400);
    stream.close();
  });

  it('refuses a frame over 64 KiB, unless it submits a call', async () => {
    const stream = await connect();
    stream.send({ op: 'submit', id: 'large', call: { tool: 'held', arguments: { text: 'x'.repeat(500_000) } } });
    expect((await stream.frame('accepted', 'large')).call.status).toBe('queued');
    stream.send({ op: 'subscribe', id: 'wide', filter: {}, cursor: 'x'.repeat(65_536) });
    const { problem } = await stream.frame('error', 'wide');
    expect(problem).toMatchObject({ status: 413, code: 'payload_too_large', detail: expect.stringContaining('expected at most 65536') });
    stream.send({ op: 'ping', id: 'still there' });
    await stream.frame('pong', 'still there');
  });

  it('closes a socket with 1009 on a frame over 1 MiB, and others do not notice', async () => {
    const [big, other] = [await connect(), await connect()];
    big.socket.send('x'.repeat(1024 * 1024 + 1));
    expect((await eventually(() => big.closed, 'the close')).code).toBe(1009);
    other.send({ op: 'ping' });
    await other.frame('pong');
  });

  it('accepts at most 100 subscriptions of a socket, and each id once', async () => {
    const stream = await connect();
    for (let id = 0; id < 101; id += 1) stream.send({ op: 'subscribe', id, filter: { agentId: `a${id}` } });
    expect((await stream.frame('error', 100)).problem.code).toBe('too_many_requests');
    stream.send({ op: 'subscribe', id: 5 });
    expect((await stream.frame('error', 5)).problem.code).toBe('conflict');
    stream.send({ op: 'unsubscribe', id: 5 });
    await stream.frame('unsubscribed', 5);
    stream.send({ op: 'subscribe', id: 'new' });
    await stream.frame('subscribed', 'new');
  });

  it('closes a socket that floods the stream', async () => {
    const stream = await connect();
    // Sends until closed: a gateway that is short of CPU reads no more frames a second than it allows at first.
    const isClosed = async () => {
      for (let n = 0; n < 30_000 && stream.socket.bufferedAmount < 4_000_000; n += 1) stream.socket.send('{"op":"ping"}');
      return stream.closed;
    };
    expect((await eventually(isClosed, 'the close')).code).toBe(CLOSE_CODES.tooManyFrames);
  });
});

describe('the stream lets in', () => {
  const dial = (options: { headers?: Record<string, string> } = {}) =>
    new WebSocket(`${tenant.url.replace('http', 'ws')}/v1/stream`, options);
  const refused = (socket: WebSocket) =>
    new Promise<number>((resolve, reject) => {
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
      socket.on('open', () => reject(new Error('it was let in')));
      socket.on('error', () => {});
    });

  it('refuses the stream to a client with a wrong key or from a foreign page', async () => {
    expect(await refused(dial({ headers: { authorization: 'Bearer wrong' } }))).toBe(401);
    expect(await refused(dial({ headers: { authorization: `Bearer ${agent.key}`, origin: 'https://evil.example' } }))).toBe(403);
  });

  it('opens the stream to a client that sends its key in the first frame, and to no other', async () => {
    const frames: ServerFrame[] = [];
    const socket = dial();
    socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString())));
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(JSON.stringify({ op: 'auth', token: agent.key }));
    await eventually(() => frames.some(({ op }) => op === 'ready'), 'ready');
    socket.terminate();

    const hasty = dial();
    const closed = new Promise<number>((resolve) => hasty.once('close', resolve));
    hasty.once('open', () => hasty.send('{"op":"subscribe","id":1}'));
    expect(await closed).toBe(CLOSE_CODES.unauthenticated);
  });

  it('refuses a frame of the largest size without a key, and keeps serving others', async () => {
    const hostile = dial();
    const closed = new Promise<number>((resolve) => hostile.once('close', resolve));
    hostile.once('open', () => hostile.send(`{"op":"auth"${' '.repeat(LIMITS.frameBytes - 13)}}`));
    expect(await closed).toBe(CLOSE_CODES.unauthenticated);
    const stream = await agent.stream();
    stream.close();
  });
});
