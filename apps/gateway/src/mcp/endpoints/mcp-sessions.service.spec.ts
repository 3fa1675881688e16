import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Principal } from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import { startRedisServer, type RedisServer } from '../../../../../test/support/redis-server.mjs';
import { SessionRoom } from '../../sessions/session-room.service.js';
import { McpSessions } from './mcp-sessions.service.js';

const ROOM = 40_000;
const principalOf = (tenantId: string, keyId = 'k'): Principal => ({ tenantId, keyId, scopes: ['cancel'] });

let server: RedisServer;
let redis: RedisConnection;
let sessions: McpSessions;
beforeAll(async () => {
  server = await startRedisServer();
  redis = createRedis(server.url);
  sessions = new McpSessions(redis, new SessionRoom(redis, { tenantSessionBytes: ROOM }));
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const begin = async (principal: Principal) => {
  const sessionId = randomUUID();
  await sessions.admit(sessionId, principal);
  await sessions.create(sessionId, principal, {});
  const session = await sessions.find(sessionId, principal);
  if (session === undefined) throw new Error('the session was not stored');
  return session;
};
const refused = expect.objectContaining({ code: 'quota_exceeded' });

it('refuses a session of an MCP client beyond what its tenant may have, and begins one when another has ended', async () => {
  const full = principalOf('many');
  const open = [];
  for (;;) {
    const session = await begin(full).catch((error: unknown) => expect(error).toEqual(refused));
    if (session === undefined) break;
    open.push(session);
  }
  expect(open.length).toBeGreaterThan(10);
  await begin(principalOf('other'));
  await open[0]?.end();
  await begin(full);
});

it('keeps no more cancelled requests of an MCP client than its tenant has room for, and cancels calls all the same', async () => {
  const session = await begin(principalOf('cancelling'));
  await session.began('asked', 'call-1');
  for (let request = 0; request < 200; request += 1) await session.cancel(`${request}`.padEnd(256, 'x'));
  expect(await redis.hlen(keys.mcpSession(session.id))).toBeLessThan(100);
  expect(await session.cancel('asked')).toBe('call-1');
  await expect(begin(principalOf('cancelling'))).resolves.toBeDefined();
});

it('counts the first requests of a session of an MCP client for its tenant, and stores no long ids of them', async () => {
  const principal = principalOf('long');
  const session = await begin(principal);
  for (let request = 0; request < 20; request += 1) await session.began(`${request}`.padEnd(10_000, 'x'), `call-${request}`);
  expect(await session.callOf('7'.padEnd(10_000, 'x'))).toBe('call-7');
  const fields = Object.entries(await redis.hgetall(keys.mcpSession(session.id)));
  expect(fields.every(([name, value]) => name.length + value.length < 512)).toBe(true);
  const counted = await redis.hget(keys.sessionBytes('long'), `mcp:${session.id}`);
  expect(Number(counted)).toBeGreaterThanOrEqual(512 * fields.length);
});
