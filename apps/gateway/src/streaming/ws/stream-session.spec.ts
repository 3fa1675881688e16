import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { CLOSE_CODES, type ApiKeyConfig } from '#contracts';
import { pino } from 'pino';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { Authenticator } from '../../auth/authenticator.service.js';
import { readGatewayConfig } from '../../platform/gateway.config.js';
import { DELIVERY_LIMITS } from '../delivery/socket-outbox.js';
import { StreamSession } from './stream-session.js';

const LIMITS = { authMs: 1_500, burst: 10, framesPerSecond: 10, inFlight: 10, followedCalls: 10, filters: 10, delivery: DELIVERY_LIMITS };
const TOKEN = 'good-key-of-the-socket-tests';
const GOOD: ApiKeyConfig = { id: 'good', key: TOKEN, tenant: 'acme', scopes: ['read'] };
const ring = () => new ApiKeyStore({ ...readGatewayConfig({ TOOLYARD_API_KEY: 'bootstrap-key-of-the-test' }), keys: [GOOD] });

const unused = (): never => {
  throw new Error('not used here');
};
const contextOf = (apiKeys = ring()) => ({
  hub: { subscribe: unused },
  apiKeys,
  authenticator: new Authenticator(apiKeys, {}, pino({ level: 'silent' })),
  limits: LIMITS,
});

describe('a socket of the stream', () => {
  let server: WebSocketServer;
  const clients: WebSocket[] = [];
  beforeEach(async () => {
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.terminate();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Both ends of one connection; `token`: bearer token of the upgrade. */
  const connect = async (token: string | undefined, context = contextOf(), autoPong = true) => {
    const accepted = once(server, 'connection');
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, { autoPong });
    clients.push(client);
    const [[wire]] = (await Promise.all([accepted, once(client, 'open')])) as [[WebSocket], unknown];
    const socket = new StreamSession(wire, context, { token }, { authenticate: () => undefined });
    wire.on('message', (data, isBinary) => socket.flow.inOrder(() => void socket.receive(data, isBinary)));
    return { client, wire, socket, closed: once(client, 'close') as Promise<[number, Buffer]> };
  };

  it('closes a socket without authentication in time, and keeps an authenticated one', async () => {
    const known = await connect(undefined);
    known.client.send(JSON.stringify({ op: 'auth', token: TOKEN }));
    await once(known.client, 'message');
    // Socket whose time is over after that of the other one.
    const silent = await connect(undefined);
    const [code, reason] = await silent.closed;
    expect([code, String(reason)]).toEqual([CLOSE_CODES.unauthenticated, expect.stringContaining('auth')]);
    known.client.send(JSON.stringify({ op: 'ping', id: 1 }));
    const frames: string[] = [];
    known.client.on('message', (data: Buffer) => frames.push(data.toString()));
    while (!frames.includes('{"op":"pong","id":1}')) await once(known.client, 'message');
    expect(known.client.readyState).toBe(WebSocket.OPEN);
  });

  it('closes a socket that answered neither of the last two pings', async () => {
    const dead = await connect(TOKEN, contextOf(), false);
    const alive = await connect(TOKEN);
    for (let beat = 0; beat < 3; beat++) {
      const pongs = once(alive.wire, 'pong');
      dead.socket.heartbeat();
      alive.socket.heartbeat();
      await pongs;
    }
    expect((await dead.closed)[0]).toBe(1006);
    expect(dead.socket.closedFor).toBe('no_pong');
    expect(alive.client.readyState).toBe(WebSocket.OPEN);
  });

  it('closes a socket as soon as its key is no longer good, and not when other keys change', async () => {
    const apiKeys = ring();
    const { client, closed } = await connect(TOKEN, contextOf(apiKeys));
    apiKeys.replace([GOOD, { ...GOOD, id: 'other', key: 'another-key-of-the-socket-tests' }]);
    client.send(JSON.stringify({ op: 'ping' }));
    await once(client, 'message');
    expect(client.readyState).toBe(WebSocket.OPEN);
    apiKeys.replace([]);
    expect((await closed)[0]).toBe(CLOSE_CODES.unauthenticated);
  });
});
