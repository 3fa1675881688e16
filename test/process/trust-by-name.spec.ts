import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Session } from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import type { Agent } from '../support/agent.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';

const TENANT = 'trust-by-name';

describe('a path that a person trusts', () => {
  let gateway: TestGateway;
  let agent: Agent;
  let redis: RedisConnection;

  beforeAll(async () => {
    gateway = await startTestGateway(TENANT);
    ({ agent } = gateway);
    redis = createRedis(process.env['TEST_REDIS_URL'] ?? '');
  });
  afterAll(async () => {
    redis.disconnect();
    await gateway.close();
  });

  const posture = { permissionMode: 'prompt' } as const;
  const write = async (sessionId: string, path: string) => (await agent.submit('file_write', { path, content: 'x' }, { sessionId })).body;
  const statusOf = async (sessionId: string, path: string) => (await write(sessionId, path)).status;

  /** Where the files of a session are, by a grant that names one. */
  async function folderOf(sessionId: string): Promise<string> {
    await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture });
    const { id } = await write(sessionId, 'here');
    await agent.request('POST', `/v1/calls/${id}/decision`, { decision: 'allow', scope: 'session-args', trustOption: 'paths' });
    const { grants } = (await agent.get<Session>(`/v1/sessions/${sessionId}`)).body;
    return (grants.literalPaths?.allowed.write[0] ?? '').replace(/\/here$/, '');
  }

  it('reads a trusted path that an older release stored as a name where it is absolute, and as a glob where it is not', async () => {
    const sessionId = 'of-an-older-release';
    const own = await folderOf(sessionId);
    const old = {
      posture,
      grants: {
        trustedTools: [],
        deniedTools: [],
        allowedPaths: { read: [], write: [`${own}/**`, 'src/**', `${own}/plain`] },
        deniedPaths: { read: [], write: [`${own}/private/*`, 'x(a|b)y/**'] },
        allowedCommands: [],
      },
      touchedAt: Date.now(),
    };
    // The form of c0478b4, as its gateways wrote it.
    await redis.set(
      keys.session(TENANT, sessionId),
      JSON.stringify({ ...old, grants: { ...old.grants, deniedPaths: { read: [], write: [`${own}/private/*`] } } }),
    );
    expect(await statusOf(sessionId, '**')).toBe('queued');
    expect(await statusOf(sessionId, 'plain')).toBe('queued');
    expect(await statusOf(sessionId, 'src/deep/a')).toBe('queued');
    expect(await statusOf(sessionId, 'other')).toBe('waiting_approval');
    expect(await agent.run('file_write', { path: 'private/a', content: '' }, { sessionId })).toMatchObject({ outcome: 'denied' });
    // A denial that no glob can be made of any more denies everything, and says which it is.
    await redis.set(keys.session(TENANT, sessionId), JSON.stringify(old));
    expect((await agent.run('file_write', { path: 'plain', content: '' }, { sessionId })).error?.message).toContain('by x(a|b)y/**');
  });
});
