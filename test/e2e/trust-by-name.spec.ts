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
  let sessions = 0;

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
  const asking = async () => {
    const id = `asking-${++sessions}`;
    await agent.request('PUT', `/v1/sessions/${id}`, { posture });
    return id;
  };
  const write = async (sessionId: string, path: string) => (await agent.submit('file_write', { path, content: 'x' }, { sessionId })).body;
  const statusOf = async (sessionId: string, path: string) => (await write(sessionId, path)).status;
  const grantsOf = async (sessionId: string) => (await agent.get<Session>(`/v1/sessions/${sessionId}`)).body.grants;
  const decide = (id: string, decision: 'allow' | 'deny', trustOption = 'paths') =>
    agent.request('POST', `/v1/calls/${id}/decision`, { decision, scope: 'session-args', trustOption });

  it.each(['**', '*', '{a,b}', '[ab]', '?', 'src/**', '**/*'])(
    'trusts the chosen file alone, also when its name reads like a glob: %s',
    async (path) => {
      const sessionId = await asking();
      const call = await write(sessionId, path);
      expect(call.status).toBe('waiting_approval');
      expect((await decide(call.id, 'allow')).status).toBe(200);
      expect(await statusOf(sessionId, path)).toBe('queued');
      for (const other of ['a', 'b', 'src/a', 'other/file'])
        expect([other, await statusOf(sessionId, other)]).toEqual([other, 'waiting_approval']);
      expect(await grantsOf(sessionId)).toMatchObject({
        allowedPaths: { read: [], write: [] },
        literalPaths: { allowed: { write: [expect.stringMatching(/^\/.*\/[^/]*/)] } },
      });
    },
  );

  it('trusts a folder with all that is below it when the folder was chosen, whatever its name', async () => {
    const sessionId = await asking();
    const call = await write(sessionId, 'ex*mple/a');
    await decide(call.id, 'allow', 'directory');
    expect(await statusOf(sessionId, 'ex*mple/deep/b')).toBe('queued');
    expect(await statusOf(sessionId, 'example/b')).toBe('waiting_approval');
  });

  it('denies the chosen file alone when a person denies it for the session', async () => {
    const sessionId = await asking();
    const call = await write(sessionId, '**');
    await decide(call.id, 'deny');
    const refused = await agent.run('file_write', { path: '**', content: 'x' }, { sessionId });
    expect(refused).toMatchObject({ outcome: 'denied', error: { message: expect.stringContaining('was denied for this session') } });
    expect(await statusOf(sessionId, 'other')).toBe('waiting_approval');
  });

  it('keeps a trusted path when the grants that GET shows are given back by PUT', async () => {
    const sessionId = await asking();
    await decide((await write(sessionId, '**')).id, 'allow');
    expect((await agent.request('PUT', `/v1/sessions/${sessionId}`, { grants: await grantsOf(sessionId) })).status).toBe(200);
    expect([await statusOf(sessionId, '**'), await statusOf(sessionId, 'other')]).toEqual(['queued', 'waiting_approval']);
  });

  it('reads a trusted path that an older release stored as a name where it is absolute, and as a glob where it is not', async () => {
    const sessionId = await asking();
    const [root] = await absoluteOf(await asking());
    const own = (root ?? '').replace(/asking-\d+$/, sessionId);
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

  describe('beside a command that a person trusts', () => {
    const shell = async (sessionId: string, command: string) => (await agent.submit('shell', { command }, { sessionId })).body;
    const trusting = async (command: string, trustOption: string) => {
      const sessionId = await asking();
      const { id } = await shell(sessionId, command);
      const { status } = await agent.request('POST', `/v1/calls/${id}/decision`, { decision: 'allow', scope: 'session-args', trustOption });
      expect(status).toBe(200);
      return sessionId;
    };

    it.each([
      'git diff > hook',
      '{ git diff; } > hook',
      'git diff | git diff >> hook',
      'HOME=. git diff',
      'HOME=.; git diff',
      'for HOME in .; do git diff; done',
      'PATH= git diff',
      'PAGER=cat LD_PRELOAD=cat git diff',
    ])('trusts no variables that a trusted command sets and no files that it writes: %s', async (command) => {
      for (const option of ['command-full', 'command-partial', 'command-base']) {
        const sessionId = await trusting('git diff', option);
        expect([option, (await shell(sessionId, command)).status]).toEqual([option, 'waiting_approval']);
      }
    });

    it.each(['git diff a', 'PAGER=cat LC_ALL=C git diff', 'git diff 2>&1', 'git diff > /dev/null', 'for x in a b; do git diff a; done'])(
      'needs no trust in harmless variables and files beside a trusted command: %s',
      async (command) => {
        const sessionId = await trusting('git diff', 'command-partial');
        expect((await shell(sessionId, command)).status).toBe('queued');
      },
    );

    it.each(['NODE_ENV=x git diff', 'git diff > hook', 'X=1; git diff', '(git diff) > hook'])(
      'trusts a command with its variables and files when a person was asked about it: %s',
      async (command) => {
        const sessionId = await trusting(command, 'command-full');
        expect((await shell(sessionId, command)).status).toBe('queued');
        expect((await shell(sessionId, 'NODE_ENV=y git diff > other')).status).toBe('waiting_approval');
      },
    );
  });

  /** Where the files of a session are, by a grant that names one. */
  async function absoluteOf(sessionId: string): Promise<string[]> {
    await decide((await write(sessionId, 'here')).id, 'allow');
    return ((await grantsOf(sessionId)).literalPaths?.allowed.write ?? []).map((path) => path.replace(/\/here$/, ''));
  }
});
