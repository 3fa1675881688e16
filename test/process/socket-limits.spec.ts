import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { CLOSE_CODES, WORKER_PROTOCOL, type ApiKeyConfig, type Problem, type ServerFrame, type WorkerWelcome } from '#contracts';
import { trustedProxies } from '../../apps/gateway/src/platform/http/client-address.js';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { ADD } from '../support/foreign-worker.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';
import { openSse, type OpenSse } from '../support/sse.js';

const TENANT = 'socket-limits';
const keyOf = (name: string) => `key-of-${name}-of-the-sockets`;
const entry = (id: string, tenant = TENANT): ApiKeyConfig => ({ id, key: keyOf(id), tenant, scopes: ['submit', 'read'] });
const SOCKETS = { perKey: 2, perTenant: 3, perAddress: 5, unauthenticated: 2 };

describe('open sockets', () => {
  let gateway: TestGateway;
  const open: { close(): void }[] = [];
  beforeAll(async () => {
    const poller: ApiKeyConfig = { ...entry('poller', `${TENANT}-workers`), scopes: ['work'] };
    const keys = [entry('first'), entry('second'), poller, ...[1, 2, 3, 4, 5].map((n) => entry(`other-${n}`, `${TENANT}-${n}`))];
    gateway = await startTestGateway(TENANT, { keys, sockets: SOCKETS });
  });
  afterEach(async () => {
    for (const one of open.splice(0)) one.close();
    await eventually(async () => {
      const { body } = await gateway.agent.get<string>('/metrics');
      return [...body.matchAll(/^toolyard_sockets\{.*\} (\d+)$/gm)].every(([, count]) => count === '0');
    }, 'the sockets to be closed');
  });
  afterAll(() => gateway.close());

  function dial(key?: string): WebSocket {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/stream`, { headers });
    socket.on('error', () => {});
    open.push({ close: () => socket.terminate() });
    return socket;
  }
  /** 101 when it was let in. */
  async function statusOf(socket: WebSocket): Promise<number> {
    return new Promise((resolve) => {
      socket.once('open', () => resolve(101));
      socket.once('unexpected-response', (_request, response: IncomingMessage) => {
        expect(response.headers['retry-after']).toBe('5');
        resolve(response.statusCode ?? 0);
      });
    });
  }
  async function stream(key: string): Promise<OpenSse> {
    const sse = await openSse(`${gateway.url}/v1/events`, key);
    open.push(sse);
    return sse;
  }
  const refusedStream = async (key: string) => {
    const { status, headers, body } = await new Agent(gateway.url, key).get<Problem>('/v1/events');
    return [status, body.code, headers.get('retry-after')];
  };
  const TOO_MANY = [429, 'too_many_requests', '5'];

  it('bounds open sockets by key, WebSockets and event streams together, and a closed one makes room', async () => {
    const first = dial(keyOf('first'));
    expect(await statusOf(first)).toBe(101);
    await stream(keyOf('first'));
    expect(await statusOf(dial(keyOf('first')))).toBe(429);
    expect(await refusedStream(keyOf('first'))).toEqual(TOO_MANY);
    expect((await new Agent(gateway.url, keyOf('first')).get('/v1/whoami')).status).toBe(200);
    first.close();
    await eventually(async () => (await statusOf(dial(keyOf('first')))) === 101, 'the freed place');
  });

  it('limits open sockets by tenant, for any of its keys', async () => {
    for (const name of ['first', 'first', 'second']) await stream(keyOf(name));
    expect(await refusedStream(keyOf('second'))).toEqual(TOO_MANY);
    expect(await statusOf(dial(keyOf('second')))).toBe(429);
    expect(await statusOf(dial(keyOf('other-1')))).toBe(101);
  });

  it('bounds workers that poll with the open sockets of a key, and one that leaves makes room', async () => {
    const poller = new Agent(gateway.url, keyOf('poller'));
    const hello = { op: 'hello', protocol: WORKER_PROTOCOL, sdk: 'test/1', tools: [ADD] };
    const register = (worker: string) => poller.request<WorkerWelcome & Problem>('POST', '/v1/workers', { ...hello, worker });
    const leave = (id: string) => poller.request('POST', `/v1/workers/${id}/messages`, { frames: [{ op: 'bye' }] });
    const [first, second, third] = [await register('one'), await register('two'), await register('three')];
    expect([first.status, second.status, third.status, third.body.code]).toEqual([201, 201, 429, 'too_many_requests']);
    await leave(first.body.workerId);
    const later = await register('three');
    expect(later.status).toBe(201);
    for (const { body } of [second, later]) await leave(body.workerId);
  });

  it('bounds open sockets by address, whosever keys they have', async () => {
    for (const n of [1, 2, 3, 4, 5]) await stream(keyOf(`other-${n}`));
    expect(await statusOf(dial(keyOf('first')))).toBe(429);
    expect(await statusOf(dial())).toBe(429);
    expect(await refusedStream(keyOf('first'))).toEqual(TOO_MANY);
  });

  it('limits sockets without a key more strictly, and counts them for the key after authentication', async () => {
    const silent = [dial(), dial()] as const;
    expect(await Promise.all(silent.map((socket) => statusOf(socket)))).toEqual([101, 101]);
    expect(await statusOf(dial())).toBe(429);
    const say = async (socket: WebSocket) => {
      const message = once(socket, 'message') as Promise<[Buffer]>;
      socket.send(JSON.stringify({ op: 'auth', token: keyOf('first') }));
      const [text] = await message;
      return JSON.parse(String(text)) as ServerFrame;
    };
    expect((await say(silent[0])).op).toBe('ready');
    expect((await say(silent[1])).op).toBe('ready');
    const third = dial();
    expect(await statusOf(third)).toBe(101);
    const closed = once(third, 'close') as Promise<[number]>;
    expect(await say(third)).toMatchObject({ op: 'error', problem: { code: 'too_many_requests', retryAfterMs: 5000 } });
    expect((await closed)[0]).toBe(CLOSE_CODES.tooManySockets);
  });

  it('refuses a large frame of an unauthenticated socket', async () => {
    const socket = dial();
    expect(await statusOf(socket)).toBe(101);
    const message = once(socket, 'message') as Promise<[Buffer]>;
    socket.send(JSON.stringify({ op: 'submit', id: 1, call: { tool: 'echo', arguments: { text: 'x'.repeat(70_000) } } }));
    expect(String((await message)[0])).toContain('of at most 65536 bytes');
  });
});

describe('a key without a rate of its own', () => {
  it('limits a key without a rate to the gateway’s default, on HTTP and sockets together', async () => {
    const keys = [{ ...entry('first'), key: BOOTSTRAP_KEY }, entry('second')];
    const gateway = await startTestGateway(TENANT, { keys, keyRatePerMinute: 3 });
    try {
      const { agent } = gateway;
      for (let n = 0; n < 2; n += 1) expect((await agent.get('/v1/whoami')).status).toBe(200);
      const stream = await agent.stream();
      stream.send({ op: 'subscribe', id: 'third' });
      await stream.frame('subscribed', 'third');
      stream.send({ op: 'subscribe', id: 'fourth' });
      expect((await stream.frame('error', 'fourth')).problem.code).toBe('too_many_requests');
      stream.close();
      const { status, headers, body } = await agent.get<Problem>('/v1/whoami');
      expect([status, body.code, headers.get('ratelimit-policy')]).toEqual([429, 'too_many_requests', '"requests";q=3;w=60']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await new Agent(gateway.url, keyOf('second')).get('/v1/whoami')).status).toBe(200);
    } finally {
      await gateway.close();
    }
  });
});

describe('the administrative acts of a tenant', () => {
  it('limits the administrative acts of a tenant a minute, for any of its keys, and executes no refused one', async () => {
    const admin = (id: string, tenant = TENANT): ApiKeyConfig => ({ ...entry(id, tenant), scopes: ['admin', 'read'] });
    const keys = [admin('first'), admin('second'), admin('other', `${TENANT}-1`)];
    const gateway = await startTestGateway(TENANT, { keys, tenantActsPerMinute: 2 });
    try {
      const put = (key: string, userId: string) =>
        new Agent(gateway.url, keyOf(key)).request<Problem>('PUT', '/v1/sessions/rated', { userId });
      expect([(await put('first', 'one')).status, (await put('second', 'two')).status]).toEqual([200, 200]);
      const { status, body, headers } = await put('second', 'three');
      expect([status, body.code, Number(headers.get('retry-after')) > 0]).toEqual([429, 'too_many_requests', true]);
      expect((await put('other', 'four')).status).toBe(200);
      expect((await new Agent(gateway.url, keyOf('first')).get('/v1/sessions/rated')).body).toMatchObject({ userId: 'two' });
    } finally {
      await gateway.close();
    }
  });
});

describe('open sockets behind a proxy', () => {
  const sockets = { ...SOCKETS, unauthenticated: 1 };
  const open: WebSocket[] = [];
  const gateways: TestGateway[] = [];
  const behind = async (proxies: readonly string[]) => {
    const gateway = await startTestGateway(TENANT, { sockets, trustedProxies: trustedProxies(proxies) });
    gateways.push(gateway);
    return async (forwarded: string): Promise<number> => {
      const headers = { 'x-forwarded-for': forwarded };
      const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/stream`, { headers });
      open.push(socket);
      socket.on('error', () => {});
      return new Promise((resolve) => {
        socket.once('open', () => resolve(101));
        socket.once('unexpected-response', (_request, response: IncomingMessage) => resolve(response.statusCode ?? 0));
      });
    };
  };
  afterAll(async () => {
    for (const socket of open) socket.terminate();
    await Promise.all(gateways.map((gateway) => gateway.close()));
  });

  it('counts sockets behind a trusted proxy for the address that it names, for IPv6 for its /64 network', async () => {
    const dial = await behind(['loopback', '10.0.0.0/8']);
    expect(await dial('203.0.113.1')).toBe(101);
    expect(await dial('203.0.113.2')).toBe(101);
    expect(await dial('203.0.113.1')).toBe(429);
    expect(await dial('203.0.113.9, 203.0.113.1, 10.1.2.3')).toBe(429);
    expect(await dial('::ffff:203.0.113.1')).toBe(429);
    expect(await dial('2001:db8:0:1::1')).toBe(101);
    expect(await dial('2001:db8:0:1:ffff::2')).toBe(429);
    expect(await dial('2001:db8:0:2::1')).toBe(101);
  });

  it('counts sockets by the address of the connection if the proxy is not trusted', async () => {
    const dial = await behind(['10.0.0.0/8']);
    expect(await dial('203.0.113.1')).toBe(101);
    expect(await dial('203.0.113.2')).toBe(429);
    expect(await dial('nonsense')).toBe(429);
  });
});
