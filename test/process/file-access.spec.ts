import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call, PolicySettings, Posture } from '#contracts';
import { Agent } from '../support/agent.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';
import { submitted, textOf } from '../support/policy-case.js';

const UNATTENDED: Posture = { autonomy: 'full', permissionMode: 'danger-full-access' };
const ALLOWS: Posture = { autonomy: 'supervised', permissionMode: 'allow' };
const SUPERVISED: Posture = { autonomy: 'supervised', permissionMode: 'workspace-write' };
const SECRET = 'the-secret-of-another-tenant';

describe('which files a call reaches', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-access-'));
  const vault = join(folder, 'vault');
  const team = join(vault, 'team');
  const drafts = join(vault, 'drafts');
  const outside = join(folder, 'outside');
  let toolyard: TestCluster;
  let agent: Agent;

  beforeAll(async () => {
    for (const path of [team, drafts, outside]) mkdirSync(path, { recursive: true });
    writeFileSync(join(vault, 'note.txt'), SECRET);
    writeFileSync(join(team, 'plan.txt'), 'the plan');
    const roots: PolicySettings = { paths: { roots: [{ path: team, access: 'read' }] } };
    const copies: PolicySettings = {
      paths: {
        roots: [
          { path: team, access: 'read' },
          { path: drafts, access: 'write' },
        ],
      },
    };
    const config = join(folder, 'toolyard.json');
    writeFileSync(
      config,
      JSON.stringify({
        agents: {
          unattended: { posture: UNATTENDED },
          allows: { posture: ALLOWS },
          team: { posture: UNATTENDED, policy: roots },
          copies: { posture: UNATTENDED, policy: copies },
          supervised: { posture: SUPERVISED },
          asked: { posture: SUPERVISED, policy: { paths: { trustWorkspace: false } } },
          trusting: {
            posture: UNATTENDED,
            policy: { paths: { trusted: [{ tools: ['file_read'], allowed: [join(outside, 'trusted')] }] } },
          },
        },
      }),
    );
    // A ripgrep that takes its time for one word, and is the real one for all others.
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'rg'), '#!/bin/sh\ncase "$*" in *take-your-time*) exec sleep 600;; esac\nexec /usr/bin/rg "$@"\n', {
      mode: 0o755,
    });
    const PATH = `${bin}:${process.env['PATH'] ?? ''}`;
    toolyard = await startTestCluster({ env: { TOOLYARD_CONFIG: config, SHARED_ROOTS: `write=${vault}`, PATH } });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
  });
  afterAll(async () => {
    await toolyard.close();
    rmSync(folder, { recursive: true });
  });

  const call = async (tool: string, args: Record<string, unknown>, agentId: string, sessionId = `of-${agentId}`) => {
    const verdict = await submitted(agent, { tool, args, agentId, sessionId });
    return verdict.call;
  };
  const approve = async (waiting: Call, more: Record<string, unknown> = {}): Promise<Call> => {
    expect(waiting.status).toBe('waiting_approval');
    const { status } = await agent.request('POST', `/v1/calls/${waiting.id}/decision`, { decision: 'allow', scope: 'once', ...more });
    expect(status).toBe(200);
    return agent.ended(waiting.id);
  };
  const workspaceOf = (sessionId: string): string => join(toolyard.workspaceRoot, 'default', 'sessions', sessionId);

  describe('in shared roots', () => {
    it.each(['unattended', 'allows'])(
      'denies a call a shared root unless its policy names the root, also without approvals: %s [PP-26]',
      async (agentId) => {
        const before = readFileSync(join(vault, 'note.txt'), 'utf8');
        const attempts: [string, Record<string, unknown>][] = [
          ['file_read', { path: join(vault, 'note.txt') }],
          ['file_write', { path: join(vault, 'note.txt'), content: 'overwritten' }],
          ['file_list', { path: vault }],
          ['file_search', { path: vault, query: 'secret' }],
          ['glob', { path: vault, pattern: '*' }],
        ];
        for (const [tool, args] of attempts) {
          const ended = await call(tool, args, agentId);
          expect([tool, ended.outcome, ended.error?.code]).toEqual([tool, 'denied', 'policy_denied']);
          expect(JSON.stringify(ended.result)).not.toContain(SECRET);
        }
        expect(readFileSync(join(vault, 'note.txt'), 'utf8')).toBe(before);
      },
    );

    it('opens the shared root that the policy of a call names, within policy and operator permissions [PP-26]', async () => {
      expect(textOf(await call('file_read', { path: join(team, 'plan.txt') }, 'team'))).toBe('the plan');
      expect(textOf(await call('file_search', { path: team, query: 'plan' }, 'team'))).toBe(`${join(team, 'plan.txt')}:1:the plan`);
      expect(textOf(await call('glob', { path: team, pattern: '*' }, 'team'))).toBe(join(team, 'plan.txt'));
      expect(await call('file_read', { path: join(vault, 'note.txt') }, 'team')).toMatchObject({ outcome: 'denied' });
      expect(await call('file_write', { path: join(team, 'x'), content: '' }, 'team')).toMatchObject({ outcome: 'denied' });
      symlinkSync(join(vault, 'note.txt'), join(team, 'up'));
      expect(await call('file_read', { path: join(team, 'up') }, 'team')).toMatchObject({ outcome: 'denied' });
    });
  });

  describe('by copies from one root to another', () => {
    const copy = (source: string, destination: string) => call('file_copy', { source, destination }, 'copies');
    const [plan, draft] = [join(team, 'plan.txt'), join(drafts, 'plan.txt')];

    it('copies files from a root readable by policy to a writable one', async () => {
      expect(textOf(await copy(plan, draft))).toBe(`Copied 8 bytes to ${draft}`);
      expect(readFileSync(draft, 'utf8')).toBe('the plan');
      expect(textOf(await copy(draft, 'mine.txt'))).toBe('Copied 8 bytes to mine.txt');
      expect(textOf(await copy('mine.txt', join(drafts, 'back.txt')))).toContain('Copied 8 bytes');
      expect(readFileSync(join(drafts, 'back.txt'), 'utf8')).toBe('the plan');
    });

    it('copies no file into a read-only root, and none from outside of the roots, also through a link', async () => {
      expect(await copy(draft, join(team, 'new.txt'))).toMatchObject({ outcome: 'denied' });
      expect(await copy(join(vault, 'note.txt'), 'stolen.txt')).toMatchObject({ outcome: 'denied' });
      symlinkSync(join(vault, 'note.txt'), join(drafts, 'up'));
      expect(await copy(join(drafts, 'up'), 'stolen.txt')).toMatchObject({ outcome: 'denied' });
      expect((await call('file_read', { path: 'stolen.txt' }, 'copies')).error?.code).toBe('tool_failed');
    });
  });

  describe('outside of the workspace', () => {
    it('reads exactly the path outside of the workspace that a person allowed, for that call only [PP-78, PP-85]', async () => {
      const path = join(outside, 'asked.txt');
      writeFileSync(path, 'read after a yes');
      writeFileSync(join(outside, 'beside.txt'), SECRET);
      const read = await approve(await call('file_read', { path }, 'supervised'));
      expect([read.outcome, textOf(read)]).toEqual(['completed', 'read after a yes']);
      expect((await call('file_read', { path }, 'supervised')).status).toBe('waiting_approval');
      expect((await call('file_read', { path: join(outside, 'beside.txt') }, 'supervised')).status).toBe('waiting_approval');
    });

    it('asks about paths outside of the workspace for each tool: writing, editing, listing, searching, and commands', async () => {
      const path = join(outside, 'work');
      mkdirSync(path);
      const file = join(path, 'new.txt');
      expect(textOf(await approve(await call('file_write', { path: file, content: 'one' }, 'supervised')))).toContain('Wrote 3 bytes');
      await approve(await call('file_edit', { path: file, old_text: 'one', new_text: 'two' }, 'supervised'));
      expect(readFileSync(file, 'utf8')).toBe('two');
      expect(textOf(await approve(await call('file_list', { path }, 'supervised')))).toBe('new.txt');
      expect(textOf(await approve(await call('file_search', { path, query: 'tw' }, 'supervised')))).toBe(`${file}:1:two`);
      expect(textOf(await approve(await call('file_search', { path: file, query: 'tw' }, 'supervised')))).toBe(`${file}:1:two`);
      expect(textOf(await approve(await call('glob', { path, pattern: '*.txt' }, 'supervised')))).toBe(file);
      expect(textOf(await approve(await call('shell', { command: `cat ${file}` }, 'supervised')))).toBe('two');
      expect(textOf(await approve(await call('shell', { command: 'pwd', working_dir: path }, 'supervised')))).toBe(`${path}\n`);
    });

    it('follows no link that replaced the file after the question', async () => {
      const path = join(outside, 'swapped.txt');
      writeFileSync(path, 'harmless');
      writeFileSync(join(outside, 'other-secret.txt'), SECRET);
      const waiting = await call('file_read', { path }, 'supervised');
      rmSync(path);
      symlinkSync(join(outside, 'other-secret.txt'), path);
      const ended = await approve(waiting);
      expect(ended).toMatchObject({ outcome: 'denied', error: { code: 'policy_denied' } });
      expect(JSON.stringify(ended)).not.toContain(SECRET);
      mkdirSync(join(outside, 'real'));
      writeFileSync(join(outside, 'real', 'f'), SECRET);
      symlinkSync(join(outside, 'real'), join(outside, 'way'));
      const through = await approve(await call('file_read', { path: join(outside, 'way', 'f') }, 'supervised'));
      expect([through.outcome, JSON.stringify(through).includes(SECRET)]).toEqual(['denied', false]);
    });

    it('reads paths outside of the workspace that a person trusts for the session, or the policy trusts by a glob [PP-30, PP-78]', async () => {
      const trusted = join(outside, 'trusted');
      mkdirSync(trusted);
      writeFileSync(join(trusted, 'a'), 'trusted by the policy');
      writeFileSync(join(outside, 'session.txt'), 'trusted by a person');
      expect(textOf(await call('file_read', { path: join(trusted, 'a') }, 'trusting'))).toBe('trusted by the policy');
      expect(await call('file_list', { path: trusted }, 'trusting')).toMatchObject({ outcome: 'denied' });
      const path = join(outside, 'session.txt');
      const waiting = await call('file_read', { path }, 'supervised', 'trusts');
      expect(waiting.approval?.trustOptions.map(({ id, display }) => [id, display])).toEqual([
        ['paths', path],
        ['directory', outside],
      ]);
      await approve(waiting, { scope: 'session-args', trustOption: 'paths' });
      expect(textOf(await call('file_read', { path }, 'supervised', 'trusts'))).toBe('trusted by a person');
      expect((await call('file_write', { path, content: '' }, 'supervised', 'trusts')).status).toBe('waiting_approval');
    });

    it('denies files of other sessions, and of the system behind processes, also after a yes', async () => {
      await call('file_write', { path: 'own.txt', content: SECRET }, 'unattended', 'victim');
      for (const path of [join(workspaceOf('victim'), 'own.txt'), '/proc/self/environ', `${workspaceOf('x')}/../victim/own.txt`]) {
        const ended = await approve(await call('file_read', { path }, 'supervised'));
        expect([path, ended.outcome]).toEqual([path, 'denied']);
        expect(JSON.stringify(ended)).not.toContain(SECRET);
      }
    });
  });

  describe('in its workspace', () => {
    const sessionId = 'denies';
    beforeAll(async () => {
      await call('file_write', { path: '.env', content: `KEY=${SECRET}\n` }, 'unattended', sessionId);
      await call('file_write', { path: 'private/deep/k', content: `${SECRET}\n` }, 'unattended', sessionId);
      await call('file_write', { path: 'public.txt', content: 'secret? no\n' }, 'unattended', sessionId);
      const root = workspaceOf(sessionId);
      symlinkSync('.env', join(root, 'link'));
      symlinkSync('private', join(root, 'folder'));
      linkSync(join(root, '.env'), join(root, 'hard'));
      linkSync(join(root, 'private/deep/k'), join(root, 'hard-deep'));
      const grants = { deniedPaths: { read: ['.env', 'private'], write: ['.env', 'private', 'public.txt'] } };
      expect((await agent.request('PUT', `/v1/sessions/${sessionId}`, { grants })).status).toBe(200);
    });

    it.each(['.env', 'link', 'hard', 'private/deep/k', 'folder/deep/k', 'hard-deep', './x/../link'])(
      'denies a denied file under any name: %s [PP-30]',
      async (path) => {
        const ended = await call('file_read', { path }, 'unattended', sessionId);
        expect([ended.outcome, ended.error?.code]).toEqual(['denied', 'policy_denied']);
        expect(JSON.stringify(ended)).not.toContain(SECRET);
      },
    );

    it('shows no denied files in a search or a listing', async () => {
      for (const args of [{ query: 'secret' }, { query: 'secret', output_mode: 'count' }, { query: 'secret', path: 'public.txt' }]) {
        const found = await call('file_search', args, 'unattended', sessionId);
        expect(textOf(found).split('\n')).toEqual([expect.stringMatching(/^public\.txt:1/)]);
      }
      expect(await call('file_search', { query: 'secret', path: 'folder' }, 'unattended', sessionId)).toMatchObject({ outcome: 'denied' });
      expect(textOf(await call('glob', { pattern: '**/*' }, 'unattended', sessionId))).toBe('public.txt');
      expect(textOf(await call('file_list', { path: '.', max_depth: 9 }, 'unattended', sessionId))).not.toContain('private/deep');
    });

    it('hides denied files from commands that name them by a wildcard, a link or a folder [PP-11]', async () => {
      for (const command of [
        'cat .e*',
        'cat * 2>&1',
        'cat li*',
        'cat har*',
        'grep -r . .',
        'find . -type f -exec cat {} +',
        'tar c . | cat',
      ]) {
        const ended = await call('shell', { command: `${command}; true` }, 'unattended', sessionId);
        expect([command, ended.outcome, JSON.stringify(ended.result).includes(SECRET)]).toEqual([command, 'completed', false]);
      }
      const written = await call('shell', { command: 'echo x > pub*; echo y > new; cat new' }, 'unattended', sessionId);
      expect(textOf(written)).toContain('y');
      expect(readFileSync(join(workspaceOf(sessionId), 'public.txt'), 'utf8')).toBe('secret? no\n');
    });

    it('names no file beside a missing one if a person is asked about each path', async () => {
      mkdirSync(workspaceOf('asked'), { recursive: true });
      writeFileSync(join(workspaceOf('asked'), 'salaries.txt'), SECRET);
      const found = await call('file_read', { path: 'salary.txt' }, 'supervised', 'asked');
      expect(found.error?.message).toContain('Did you mean salaries.txt?');
      for (const args of [{ path: 'salary.txt' }, { path: 'salary.txt', old_text: 'a', new_text: 'b' }]) {
        const asked = await approve(await call('old_text' in args ? 'file_edit' : 'file_read', args, 'asked', 'asked'));
        expect(asked.error?.message).toMatch(/^File not found: salary\.txt/);
        expect(asked.error?.message).not.toContain('salaries');
      }
    });

    it('denies a denied write also through a linked folder', async () => {
      for (const path of ['public.txt', 'folder/new'])
        expect(await call('file_write', { path, content: 'x' }, 'unattended', sessionId)).toMatchObject({ outcome: 'denied' });
    });

    it('denies a write through a link to a file that later commands run, and asks about its own name', async () => {
      const root = workspaceOf('of-supervised');
      for (const name of ['hooks', 'info']) mkdirSync(join(root, '.git', name), { recursive: true });
      symlinkSync('.git', join(root, 'docs'));
      symlinkSync('.git/hooks', join(root, 'scripts'));
      for (const path of ['docs/config', 'docs/info/x', 'scripts/x']) {
        const refused = await call('file_write', { path, content: 'x' }, 'supervised');
        expect(refused).toMatchObject({ outcome: 'denied', error: { code: 'policy_denied' } });
        expect(refused.error?.message).toMatch(
          /It leads through a symbolic link to \.git\/.*, and git runs programs .* Write to that path$/,
        );
      }
      expect(readdirSync(join(root, '.git')).toSorted()).toEqual(['hooks', 'info']);
      const asked = await call('file_write', { path: '.git/config', content: '[core]\n' }, 'supervised');
      expect((await approve(asked)).outcome).toBe('completed');
    });
  });

  describe('by a search that asks for too much', () => {
    const sessionId = 'searches';
    const search = (args: Record<string, unknown>, more: Record<string, unknown> = {}) =>
      agent.run('file_search', args, { agentId: 'unattended', sessionId, ...more });

    it('refuses a search with too large a compiled expression at once, with advice', async () => {
      await call('file_write', { path: 'a.txt', content: 'a'.repeat(2_000) }, 'unattended', sessionId);
      const ended = await search({ query: 'a{1000}{1000}' });
      expect(ended).toMatchObject({
        outcome: 'failed',
        error: { code: 'invalid_arguments', message: expect.stringContaining('too large') },
        attempt: 1,
      });
    });

    it('refuses a search of a named file that is larger than any that is searched', async () => {
      const file = join(workspaceOf(sessionId), 'sparse');
      writeFileSync(file, '');
      truncateSync(file, 1_000_000_000_000);
      const ended = await search({ query: 'x', path: 'sparse' });
      expect(ended).toMatchObject({ outcome: 'failed', error: { code: 'tool_failed' }, attempt: 1 });
      expect(ended.error?.message).toMatch(/^File too large: sparse has 1,000,000,000,000 bytes, at most 10,485,760 are allowed/);
    });

    it('repeats no search that ran out of time', async () => {
      const ended = await search({ query: 'take-your-time' }, { timeouts: { runMs: 2_000 } });
      expect(ended).toMatchObject({ outcome: 'timed_out', error: { code: 'run_timeout', retryable: false }, attempt: 1 });
      expect(ended.error?.message).toContain('timed out after 2,000 ms');
    });
  });
});
