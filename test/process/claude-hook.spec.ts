import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ToolyardClient } from '#client';
import { startCli } from '../support/cli.js';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';

let toolyard: TestCluster;
let client: ToolyardClient;
let project: string;

beforeAll(async () => {
  toolyard = await startTestCluster({ env: { OUTSIDE_ROOTS: '' } });
  client = new ToolyardClient({ baseUrl: toolyard.gateways[0]?.url ?? '', apiKey: TEST_KEY });
  project = mkdtempSync(join(tmpdir(), 'toolyard-project-'));
  mkdirSync(join(project, 'src'));
  symlinkSync('/etc', join(project, 'link'));
  symlinkSync('/etc/missing', join(project, 'dangling'));
  await client.sessions.put('locked', { posture: { permissionMode: 'read-only' } });
  await client.sessions.put('careful', { posture: { permissionMode: 'prompt' } });
});
afterAll(async () => {
  await toolyard?.close();
  rmSync(project, { recursive: true, force: true });
});

const Decided = z.object({
  hookSpecificOutput: z.strictObject({
    hookEventName: z.literal('PreToolUse'),
    permissionDecision: z.enum(['allow', 'deny', 'ask']),
    permissionDecisionReason: z.string(),
  }),
});

const Settings = z.object({
  hooks: z.object({
    PreToolUse: z.tuple([
      z.object({ matcher: z.string(), hooks: z.tuple([z.object({ type: z.literal('command'), command: z.string() })]) }),
    ]),
  }),
});

/** A tool use in the form that Claude Code gives to its hooks. */
const use = (tool_name: string, tool_input: object, session_id = 'free') => ({
  session_id,
  transcript_path: '/home/me/.claude/transcript.jsonl',
  cwd: join(project, 'src'),
  permission_mode: 'default',
  hook_event_name: 'PreToolUse',
  tool_name,
  tool_input,
  tool_use_id: 'toolu_01ABC',
});

function hook(input: unknown, flags: readonly string[] = [], env: Record<string, string> = {}) {
  const url = toolyard.gateways[0]?.url ?? '';
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  return startCli(['hook', 'claude', '--timeout', '60s', ...flags], {
    url,
    input: text,
    env: { CLAUDE_PROJECT_DIR: project, ...env },
  }).ended();
}

async function decision(input: unknown, flags?: readonly string[], env?: Record<string, string>): Promise<string> {
  const { code, out, err } = await hook(input, flags, env);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out === '' ? 'none' : Decided.parse(JSON.parse(out)).hookSpecificOutput.permissionDecision;
}

describe('toolyard hook claude', () => {
  it('gives Claude Code the decision of the policy for its session', async () => {
    const command = { command: 'touch x', description: 'makes a file' };
    expect(await Promise.all(['free', 'careful', 'locked'].map((session) => decision(use('Bash', command, session))))).toEqual([
      'allow',
      'ask',
      'deny',
    ]);
    expect(await decision(use('Bash', command), ['--session', 'locked'])).toBe('deny');
    expect(JSON.parse((await hook(use('Bash', command, 'locked'))).out)).toMatchObject({
      hookSpecificOutput: { permissionDecisionReason: expect.stringContaining('read-only') },
    });
  });

  it('evaluates project files for Claude Code as workspace files, and links by their targets', async () => {
    await client.sessions.put('paths', { grants: { deniedPaths: { read: ['secret/**'], write: ['/etc/**'] } } });
    const read = (file_path: string) => decision(use('Read', { file_path }, 'paths'));
    const write = (file_path: string) => decision(use('Write', { file_path, content: 'x' }, 'paths'));
    expect(await Promise.all([read(join(project, 'src/a.ts')), read(join(project, 'secret/key')), read('../secret/key')])).toEqual([
      'allow',
      'deny',
      'deny',
    ]);
    expect(await Promise.all([write('b.ts'), write('../link/hosts'), write(join(project, 'dangling'))])).toEqual(['allow', 'deny', 'deny']);
  });

  it('decides on tools without an equivalent in toolyard hook claude only with a flag', async () => {
    const todo = use('TodoWrite', { todos: [] });
    expect(await decision(todo)).toBe('none');
    expect(await decision(todo, ['--unmapped', 'ask'])).toBe('ask');
    expect(await decision(use('Search', { url: 'https://example.com/' }, 'locked'), ['--map', 'Search=web_fetch'])).toBe('deny');
  });

  it('leaves the decision to the user of Claude Code if no gateway answers, unless a flag changes it', async () => {
    const away = { TOOLYARD_URL: 'http://127.0.0.1:1' };
    const bash = use('Bash', { command: 'ls' });
    const flags = ['--timeout', '300ms'];
    expect(await Promise.all([decision(bash, flags, away), decision(bash, [...flags, '--on-error', 'deny'], away)])).toEqual([
      'ask',
      'deny',
    ]);
    expect(await decision(bash, ['--on-error', 'allow'], { TOOLYARD_API_KEY: 'not-a-key-of-this-gateway' })).toBe('allow');
  });

  it('exits with 2 from toolyard hook claude after a wrong call, which blocks the tool use', async () => {
    const bash = use('Bash', { command: 'ls' });
    const runs = [
      hook('no JSON'),
      hook({ ...bash, hook_event_name: 'PostToolUse' }),
      hook(bash, ['--on-error', 'maybe']),
      hook(bash, ['--map', 'Search']),
      hook(bash, [], { TOOLYARD_API_KEY: '' }),
    ];
    for (const { code, out, err } of await Promise.all(runs)) {
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).not.toBe('');
    }
  });

  it('prints settings for Claude Code whose command works in any folder, without the key', async () => {
    const data = mkdtempSync(join(tmpdir(), 'toolyard data '));
    writeFileSync(join(data, 'address'), toolyard.gateways[0]?.url ?? '');
    writeFileSync(join(data, 'key'), TEST_KEY);
    const env = { TOOLYARD_URL: '', TOOLYARD_API_KEY: '', TOOLYARD_DATA: data };
    const { code, out } = await hook('', ['--session', 'locked', '--map', 'Search=web_fetch', '--print-config'], env);
    expect([code, out.includes(TEST_KEY)]).toEqual([0, false]);
    const { matcher, hooks } = Settings.parse(JSON.parse(out)).hooks.PreToolUse[0];
    expect(matcher.split('|')).toEqual(expect.arrayContaining(['Bash', 'Monitor', 'WebFetch', 'Search']));
    const input = JSON.stringify(use('Bash', { command: 'touch x' }));
    const decided = execFileSync('sh', ['-c', hooks[0].command], { input, cwd: tmpdir(), env: {}, encoding: 'utf8' });
    expect(Decided.parse(JSON.parse(decided)).hookSpecificOutput.permissionDecision).toBe('deny');
    rmSync(data, { recursive: true });
  });
});
