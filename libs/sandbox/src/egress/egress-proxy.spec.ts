import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, createServer, Socket, type AddressInfo, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { EgressPolicy, type ResolvedAddress } from './egress-policy.js';
import { EgressProxy } from './egress-proxy.js';

const MOST_BYTES = 1_000_000;

/** Answers each connection with the content of `answer`. */
let answer: string;
let connections = 0;
let upstream: Server;
let port: number;
const opened: EgressProxy[] = [];

beforeAll(async () => {
  upstream = createServer((socket) => {
    connections += 1;
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end(Buffer.from(answer, 'latin1')));
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  port = portOf(upstream);
});
afterEach(() => Promise.all(opened.splice(0).map((proxy) => proxy.close())));
afterAll(() => void upstream.close());

function portOf(server: Server): number {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of a server that listens on a port
  return (server.address() as AddressInfo).port;
}

async function open(policy: EgressPolicy) {
  const proxy = new EgressProxy(policy, MOST_BYTES);
  opened.push(proxy);
  const address = new URL(await proxy.listen());
  const headers = { 'proxy-authorization': `Basic ${Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64')}` };
  const get = async (url: string) => {
    const sent = request({ host: address.hostname, port: address.port, path: url, headers, agent: false });
    sent.end();
    const [response] = await once(sent, 'response');
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  };
  const tunnel = async (target: string) => {
    const socket = connect(Number(address.port), address.hostname);
    socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\nproxy-authorization: ${headers['proxy-authorization']}\r\n\r\n`);
    return text(socket);
  };
  return { get, tunnel };
}

describe('the egress proxy before a hostile server', () => {
  const BODY = 'content-length: 2\r\n\r\nhi';

  it.each([
    ['status 000', `HTTP/1.1 000 x\r\n${BODY}`],
    ['status 099', `HTTP/1.1 099 x\r\n${BODY}`],
    ['status 600', `HTTP/1.1 600 x\r\n${BODY}`],
    ['status 999', `HTTP/1.1 999 x\r\n${BODY}`],
    ['a status of four digits', `HTTP/1.1 2000 x\r\n${BODY}`],
    ['a switch of protocols', 'HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
    ['a control character in a header value', `HTTP/1.1 200 OK\r\nx-a: a\u0001b\r\n${BODY}`],
    ['a NUL in a header value', `HTTP/1.1 200 OK\r\nx-a: a\0b\r\n${BODY}`],
    ['a DEL in a header value', `HTTP/1.1 200 OK\r\nx-a: a\u007fb\r\n${BODY}`],
    ['a header name with a space', `HTTP/1.1 200 OK\r\nx a: b\r\n${BODY}`],
    ['an empty header name', `HTTP/1.1 200 OK\r\n: b\r\n${BODY}`],
    ['two lengths', `HTTP/1.1 200 OK\r\ncontent-length: 1\r\n${BODY}`],
    ['no response', ''],
    ['no HTTP', 'SSH-2.0-x\r\n'],
  ])('answers 502 by the egress proxy to %s, and keeps working', async (_what, bytes) => {
    const { get } = await open(new EgressPolicy([`127.0.0.1:${port}`]));
    answer = bytes;
    expect(await get(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 502, body: expect.stringContaining('Could not fetch from') });
    answer = `HTTP/1.1 200 OK\r\nx-a: \xe4\r\n${BODY}`;
    expect(await get(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200, body: 'hi', headers: { 'x-a': '\xe4' } });
  });

  it('answers 502 by the egress proxy for a trusted name without an address', async () => {
    const { get, tunnel } = await open(new EgressPolicy(['wiki.internal'], () => Promise.resolve([])));
    expect(await get('http://wiki.internal/')).toMatchObject({ status: 502 });
    expect(await tunnel('wiki.internal:443')).toMatch(/^HTTP\/1\.1 502 /);
  });
});

describe('the egress proxy before a name that changes its address', () => {
  const PUBLIC: ResolvedAddress = { address: '93.184.216.34', family: 4 };
  const LOOPBACK: ResolvedAddress = { address: '127.0.0.1', family: 4 };
  const attempts: string[] = [];

  /** The attempt to connect is seen, and ended at once: no test waits for a public address. */
  const onSocket = (message: unknown) => {
    const socket = typeof message === 'object' && message !== null && 'socket' in message ? message.socket : undefined;
    if (!(socket instanceof Socket)) return;
    socket.on('connectionAttempt', (address: string, to: number) => {
      if (to === port) attempts.push(address);
      if (address === PUBLIC.address) process.nextTick(() => socket.destroy(new Error('ended by the test')));
    });
  };
  beforeAll(() => subscribe('net.client.socket', onSocket));
  afterAll(() => void unsubscribe('net.client.socket', onSocket));

  it.each(['get', 'tunnel'] as const)(
    'connects to the address of a name that was checked, and to no later one: %s [PP-45]',
    async (way) => {
      const answers: (readonly ResolvedAddress[])[] = [[PUBLIC]];
      let lookups = 0;
      const { get, tunnel } = await open(
        new EgressPolicy([], async () => {
          lookups += 1;
          return answers.shift() ?? [LOOPBACK];
        }),
      );
      const ask = async () =>
        way === 'get'
          ? (await get(`http://rebind.example:${port}/`)).status
          : Number((await tunnel(`rebind.example:${port}`)).split(' ')[1]);
      const before = connections;
      attempts.length = 0;

      expect([await ask(), lookups]).toEqual([502, 1]);
      expect(attempts).toEqual([PUBLIC.address]);
      expect([await ask(), lookups]).toEqual([way === 'get' ? 403 : 502, 2]);
      expect(attempts).toEqual([PUBLIC.address]);
      expect(connections).toBe(before);
    },
  );
});
