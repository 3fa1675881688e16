import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Session } from '#contracts';
import type { Agent } from '../support/agent.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

describe('a path that a person trusts', () => {
  let tenant: Tenant;
  let agent: Agent;
  let sessions = 0;

  beforeAll(async () => {
    tenant = await useTenant('trust-by-name');
    ({ agent } = tenant);
  });
  afterAll(() => tenant?.close());

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
    'trusts only the chosen file, also if its name resembles a glob: %s',
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

  it('trusts a chosen folder with everything below it, for any name', async () => {
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

  it('preserves a trusted path when PUT sends back the grants of GET', async () => {
    const sessionId = await asking();
    await decide((await write(sessionId, '**')).id, 'allow');
    expect((await agent.request('PUT', `/v1/sessions/${sessionId}`, { grants: await grantsOf(sessionId) })).status).toBe(200);
    expect([await statusOf(sessionId, '**'), await statusOf(sessionId, 'other')]).toEqual(['queued', 'waiting_approval']);
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
      'trusts an approved command with its variables and files: %s',
      async (command) => {
        const sessionId = await trusting(command, 'command-full');
        expect((await shell(sessionId, command)).status).toBe('queued');
        expect((await shell(sessionId, 'NODE_ENV=y git diff > other')).status).toBe('waiting_approval');
      },
    );
  });
});
