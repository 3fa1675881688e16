import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedis, keys, type RedisConnection } from '#redis';
import type { Call } from '#contracts';
import { eventually } from '../../../../../test/support/eventually.js';
import { startRedisServer, type RedisServer } from '../../../../../test/support/redis-server.mjs';
import { RequestStates } from './request-state.service.js';
import type { ToolCall } from './tool-call.js';

const OF = { principal: { tenantId: 't', keyId: 'k' }, name: 'shell', args: { command: 'date' }, ctx: {} } as unknown as ToolCall;
const CALL = { id: 'call-1', approval: { expiresAt: new Date(Date.now() + 60_000).toISOString() } } as Call;

describe('RequestStates', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  beforeAll(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  it('accepts a state of another gateway after Redis lost the key and that gateway created a new one', async () => {
    const one = new RequestStates(redis);
    expect(await one.questionOf(OF, await one.mint(OF, CALL, 'input.1'))).toMatchObject({ callId: 'call-1', question: 'input.1' });
    await redis.del(keys.mcpStateKey());
    const state = await new RequestStates(redis).mint(OF, CALL, 'input.1');
    await eventually(async () => (await one.questionOf(OF, state).catch(() => undefined))?.callId === 'call-1', 'the new key to be read');
  });

  it('rejects a state signed by an unknown key, also repeatedly', async () => {
    const states = new RequestStates(redis);
    const state = await states.mint(OF, CALL, 'input.1');
    for (let n = 0; n < 3; n++) await expect(states.questionOf(OF, `${state}x`)).rejects.toThrow(/Invalid or expired requestState/);
  });
});
