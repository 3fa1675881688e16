import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SCOPES, type ApiKeyConfig, type ApiKeyPage, type IssuedKey, type Principal, type Problem } from '#contracts';
import { createRedis, keys as redisKeys } from '#redis';
import { Agent } from '../support/agent.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';

const TENANT = 'issued-keys';
const KEYS: ApiKeyConfig[] = [
  { id: 'issued-operator', key: 'key-operator-of-the-issued-keys', tenant: TENANT, scopes: [...SCOPES], agents: ['*'] },
];

let gateways: TestGateway[] = [];
beforeAll(async () => {
  gateways = await Promise.all([0, 1].map(() => startTestGateway(TENANT, { keys: KEYS })));
});
afterAll(() => Promise.all(gateways.map((gateway) => gateway.close())));

const as = (key: string, at = 0) => new Agent(gateways[at]?.url ?? '', key);
const by = (id: string, at = 0) => as(`key-${id}-of-the-issued-keys`, at);
const create = <T = IssuedKey>(body: object, agent = by('operator')) => agent.request<T>('POST', '/v1/keys', { name: 'test', ...body });
const made = async (body: object = {}, agent = by('operator')): Promise<IssuedKey> => {
  const { status, body: key } = await create(body, agent);
  expect([status, key]).toEqual([201, expect.objectContaining({ status: 'active' })]);
  return key;
};
const revoke = (id: string, agent = by('operator')) => agent.request<Problem>('DELETE', `/v1/keys/${id}`);
const list = async (agent = by('operator')) => (await agent.get<ApiKeyPage>('/v1/keys')).body.keys;
const whoami = (key: string, at = 0) => as(key, at).get<Principal & Problem>('/v1/whoami');

/** Keys as Redis stores them. All else is in test/api/keys.spec.ts. */
describe('an API key that is made over HTTP', () => {
  it('stores an API key without its text, which only the first answer has', async () => {
    const { id, key } = await made();
    const redis = createRedis(process.env['TEST_REDIS_URL'] ?? '');
    const stored = await redis.hget(redisKeys.apiKeys(TENANT), id);
    redis.disconnect();
    expect(stored).toContain('sha256');
    const answers = JSON.stringify([stored, await list(), (await by('operator').get(`/v1/keys/${id}`)).body]);
    expect(answers).not.toContain(key);
    expect(JSON.stringify(await list())).not.toMatch(/sha256|people|of-the-issued-keys/);
  });

  it('counts an API key also beside an unreadable one, which is refused', async () => {
    const redis = createRedis(process.env['TEST_REDIS_URL'] ?? '');
    const other = await made();
    await redis.hset(redisKeys.apiKeys(TENANT), other.id, JSON.stringify({ id: other.id, limit: 'of a later release' }));
    const { id, key } = await made();
    for (const at of [0, 1]) expect([(await whoami(key, at)).body.keyId, (await whoami(other.key, at)).status]).toEqual([id, 401]);
    expect((await revoke(id)).status).toBe(204);
    await redis.hdel(redisKeys.apiKeys(TENANT), other.id);
    redis.disconnect();
  });
});
