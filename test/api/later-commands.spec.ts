import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Agent } from '../support/agent.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const READING = { policy: { commands: { autoAllowReadonly: true } } };
const DIFF = '[diff "x"]\n\ttextconv = "touch PWNED; cat"\n';

describe('a file by which a later command runs something', () => {
  let tenant: Tenant;
  let agent: Agent;
  let sessions = 0;
  beforeAll(async () => {
    const posture = { autonomy: 'supervised', permissionMode: 'workspace-write' } as const;
    tenant = await useTenant('later-commands', { settings: { agents: { reading: READING }, posture } });
    ({ agent } = tenant);
  });
  afterAll(() => tenant?.close());

  /** A session in a repository with a changed file. */
  const inRepository = () => {
    const sessionId = `repository-${(sessions += 1)}`;
    const root = tenant.workspaceOf(sessionId);
    mkdirSync(root, { recursive: true });
    const git = (...words: string[]) => execFileSync('git', words, { cwd: root });
    git('init', '-q');
    writeFileSync(join(root, 'f'), 'a\n');
    git('add', 'f');
    writeFileSync(join(root, 'f'), 'b\n');
    return { parties: { sessionId, agentId: 'reading' }, root };
  };

  it.each([
    ['git status', '.git/config', '[core]\n\tfsmonitor = "touch PWNED; false"\n'],
    ['git diff', '.git/config', '[diff]\n\texternal = "touch PWNED; true"\n'],
    ['git diff', '.gitattributes', 'f diff=x\n'],
  ])('runs nothing by %s that an agent wrote into %s, until a person allows the write', async (command, path, content) => {
    const { parties, root } = inRepository();
    if (path === '.gitattributes') writeFileSync(join(root, '.git/config'), DIFF);
    const { body: write } = await agent.submit('file_write', { path, content }, parties);
    expect(write.status).toBe('waiting_approval');
    const read = async () => {
      expect(await agent.run('shell', { command }, parties)).toMatchObject({ outcome: 'completed', decision: { effect: 'allow' } });
      return existsSync(join(root, 'PWNED'));
    };
    expect(await read()).toBe(false);
    await agent.request('POST', `/v1/calls/${write.id}/decision`, { decision: 'allow' });
    expect(await agent.ended(write.id)).toMatchObject({ outcome: 'completed' });
    expect(await read()).toBe(true);
  });
});
