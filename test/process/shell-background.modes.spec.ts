import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call, Problem } from '#contracts';
import { createRedis, keys, partitionOf } from '#redis';
import { newMarker, processesWith } from '../../libs/tools/src/testing/shell-runs.js';
import { Agent } from '../support/agent.js';
import { taskOf } from '../support/background.js';
import { eventually } from '../support/eventually.js';
import { textOf } from '../support/policy-case.js';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';

const RIVAL_KEY = 'key-of-the-rival-of-background-runs';
const SCOPES = ['submit', 'read', 'cancel', 'approve', 'admin'];
const folder = mkdtempSync(join(tmpdir(), 'toolyard-background-'));

let toolyard: TestCluster;
let agent: Agent;
let rival: Agent;
beforeAll(async () => {
  const config = join(folder, 'toolyard.json');
  const apiKeys = [
    { id: 'main', key: TEST_KEY, tenant: 'default', scopes: SCOPES, users: ['alice'] },
    { id: 'rival', key: RIVAL_KEY, tenant: 'rival', scopes: SCOPES },
  ];
  writeFileSync(config, JSON.stringify({ keys: apiKeys }));
  toolyard = await startTestCluster({ env: { TOOLYARD_CONFIG: config, WORKER_CONCURRENCY: 'shell=16' } });
  const url = toolyard.gateways[0]?.url ?? '';
  agent = new Agent(url);
  rival = new Agent(url, RIVAL_KEY);
});
afterAll(async () => {
  await toolyard?.close();
  rmSync(folder, { recursive: true });
});

const inSession = (sessionId: string, by = agent) => ({
  run: (tool: string, args: object) => by.run(tool, args, { sessionId }),
  start: async (command: string, more: object = {}): Promise<string> => {
    const call = await by.run('shell', { command, background: true, ...more }, { sessionId });
    expect(call).toMatchObject({ outcome: 'completed', result: { isError: false } });
    return taskOf(call);
  },
  output: async (task_id: string, since = 0): Promise<{ text: string; details: Record<string, unknown> }> => {
    const call = await by.run('shell_output', { task_id, since, wait_seconds: 30 }, { sessionId });
    return { text: textOf(call), details: { ...call.result?.details } };
  },
});
const eventsOf = async (id: string) => (await agent.events(id)).map(({ type }) => type);

describe('a command in the background', () => {
  it('answers a command in the background at once with a task id; its output, state and exit code are read later', async () => {
    const { start, run, output } = inSession('reads');
    const id = await start('echo begun; until [ -e go ]; do sleep 0.05; done; echo over >&2; exit 3');
    const first = await output(id);
    expect(first.text).toContain('begun\n');
    expect(first.text).toContain(`[${id}: running; position `);
    expect(textOf(await run('shell_list', {}))).toMatch(new RegExp(`^${id}  running  since .*: echo begun; until`));

    await run('file_write', { path: 'go', content: '' });
    const ended = await agent.ended(id);
    expect(ended).toMatchObject({ tool: 'shell', outcome: 'completed', isError: true, result: { details: { exitCode: 3 } } });
    const rest = await output(id, Number(first.details['position']));
    const byPosition = await run('shell_output', { task_id: id, position: first.details['position'] });
    expect(textOf(byPosition)).toBe(rest.text);
    expect(rest.text).toMatch(/^over\n\[.*: exited with code 3; position \d+\]$/);
    expect(rest.details).toMatchObject({ exitCode: 3, hasMore: false });
    expect(textOf(await run('shell_list', {}))).toContain('exited with code 3');
    const [submitted] = await agent.events(id);
    expect(submitted).toMatchObject({ type: 'call.submitted', data: { startedBy: expect.any(String) } });
    expect(await eventsOf(id)).toEqual(expect.arrayContaining(['call.start', 'call.update', 'call.end']));
  });

  it('shows long output in parts that join without a gap', async () => {
    const { start, output } = inSession('long');
    const id = await start('for n in $(seq 1 4); do printf "part$n %07000d\\n" 0; sleep 0.3; done');
    await agent.ended(id);
    const parts: string[] = [];
    for (let since = 0, hasMore = true; hasMore;) {
      const { text, details } = await output(id, since);
      expect(Buffer.byteLength(text)).toBeLessThan(16_384);
      parts.push(text.slice(0, text.lastIndexOf(`[${id}:`)));
      since = Number(details['position']);
      hasMore = details['hasMore'] === true;
    }
    expect(parts.length).toBeGreaterThan(1);
    const joined = parts.join('').replaceAll('\n', '');
    expect([...joined.matchAll(/part(\d)/g)].map(([, n]) => n)).toEqual(['1', '2', '3', '4']);
    expect(joined.length).toBe(4 * 'part1 '.length + 4 * 7_000);
  });

  it('kills a background command with all processes that it started', async () => {
    const { start, run, output } = inSession('stops');
    const marker = newMarker();
    const id = await start(`trap '' TERM; setsid bash -c 'exec -a ${marker} sleep 600' & echo up; wait`);
    expect((await output(id)).text).toContain('up\n');
    await eventually(() => processesWith(marker).length > 0, 'the command to run');
    expect(textOf(await run('shell_stop', { task_id: id }))).toMatch(/: cancelled/);
    expect((await agent.events(id)).at(-1)).toMatchObject({ type: 'call.end', data: { outcome: 'cancelled', stopped: { how: 'killed' } } });
    expect(processesWith(marker)).toEqual([]);
    expect(textOf(await run('shell_stop', { task_id: id }))).toMatch(/: cancelled/);
  });

  it('hides a command in the background from other sessions and tenants', async () => {
    const { start, run } = inSession('mine');
    const id = await start('sleep 600');
    const foreign = await agent.run('echo', {}, { sessionId: 'mine' });
    for (const other of [inSession('yours'), inSession('mine', rival)]) {
      expect(textOf(await other.run('shell_list', {}))).toBe('This session has no background runs.');
      for (const tool of ['shell_output', 'shell_stop']) {
        const call = await other.run(tool, { task_id: id });
        expect(call).toMatchObject({ outcome: 'failed', error: { code: 'tool_failed' } });
        expect(textOf(call)).toBe(`This session has no background run ${id}. Use shell_list to see those it has.`);
      }
    }
    expect(textOf(await run('shell_stop', { task_id: foreign.id }))).toContain('no background run');
    await eventually(async () => (await agent.get(`/v1/calls/${id}`)).body.status === 'running', 'the command to run on');
    await run('shell_stop', { task_id: id });
  });

  it('ends a background command with its session, which has at most four', async () => {
    const { start, run } = inSession('ends');
    const ids = await Promise.all([1, 2, 3, 4].map(() => start('sleep 600')));
    const fifth = await run('shell', { command: 'sleep 600', background: true });
    expect(fifth.outcome).toBe('failed');
    expect(textOf(fifth)).toContain('has 4 background runs at once already');
    expect((await agent.request('DELETE', '/v1/sessions/ends')).status).toBe(204);
    for (const id of ids) expect((await agent.ended(id)).outcome).toBe('cancelled');
    expect(textOf(await run('shell_list', {}))).toBe('This session has no background runs.');
  });

  it('finds a running background command after any number of ended ones, and only for its starter’s user', async () => {
    const { run, start } = inSession('many');
    const asked = await agent.run('shell', { command: 'sleep 600', background: true }, { sessionId: 'many', userId: 'alice' });
    const long = taskOf(asked);
    const others = Array.from({ length: 100 }, () => agent.submit('echo', {}, { sessionId: 'many' }));
    const ended = await Promise.all(others.map(async (call) => (await agent.ended((await call).body.id)).id));
    const redis = createRedis(toolyard.redis.url);
    const key = keys.backgroundRuns(partitionOf(long), 'default', 'many');
    await redis.zadd(key, ...ended.flatMap((id) => [Date.now(), id]));
    await agent.ended(await start('true'));
    expect(await redis.zcard(key)).toBeLessThan(103);
    redis.disconnect();
    expect(textOf(await run('shell_list', {}))).toContain(`${long}  running`);
    expect((await agent.get(`/v1/calls/${long}`)).body.userId).toBe('alice');
    await run('shell_stop', { task_id: long });
    expect((await agent.ended(long)).outcome).toBe('cancelled');
  });

  it('ends a background command with the cancel of everything in its session', async () => {
    const id = await inSession('cancelled').start('sleep 600');
    expect((await agent.request('POST', '/v1/sessions/cancelled/cancel', {})).status).toBe(202);
    expect((await agent.ended(id)).outcome).toBe('cancelled');
  });

  it('passes the secrets of its arguments to a background command, and none to the log', async () => {
    const { start, output } = inSession('secrets');
    const id = await start('x=ghp_1q2w3e4r5t6y7u8i9o0p1q2w3e4r5t6y7u8i; echo ${#x}');
    expect((await output(id)).text).toContain('40\n');
    expect(JSON.stringify(await agent.events(id))).not.toContain('ghp_1q2w');
  });

  it.each([
    ['without a session', { background: true }, undefined, 'need a session'],
    ['with the state of a persistent shell', { background: true, persistent: true }, 'refused', 'exclude each other'],
    ['in the foreground with more than ten minutes', { timeout_ms: 600_001 }, 'refused', 'at most 600000'],
  ])('refuses a command in the background %s', async (_title, more, sessionId, text) => {
    const call = await agent.run('shell', { command: 'true', ...more }, sessionId === undefined ? {} : { sessionId });
    expect(call).toMatchObject({ outcome: 'failed', error: { code: 'invalid_arguments' } });
    expect(textOf(call)).toContain(text);
  });

  it('kills a background command after its own time', async () => {
    const id = await inSession('timed').start('sleep 600', { timeout_ms: 200 });
    expect((await agent.ended(id)).outcome).toBe('timed_out');
    expect((await inSession('timed').output(id)).text).toContain('timed out');
  });
});

describe('the policy about a command in the background', () => {
  const supervised = (id: string) =>
    agent.request('PUT', `/v1/sessions/${id}`, { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
  const decide = (id: string, body: object) => agent.request('POST', `/v1/calls/${id}/decision`, body);

  it('asks once: approving the call approves exactly this command in the background', async () => {
    await supervised('asked');
    const { body } = await agent.submit('shell', { command: 'echo allowed', background: true }, { sessionId: 'asked' });
    expect(body.status).toBe('waiting_approval');
    await decide(body.id, { decision: 'allow' });
    const starter = await agent.ended(body.id);
    const run = await agent.ended(taskOf(starter));
    expect(textOf(run)).toBe('allowed\n');
    expect(run.decision).toMatchObject({
      effect: 'allow',
      reasons: expect.arrayContaining([expect.objectContaining({ satisfiedBy: expect.stringContaining(starter.id) })]),
    });
  });

  it('runs in the background the arguments edited by a person', async () => {
    await supervised('edited');
    const { body } = await agent.submit('shell', { command: 'echo before', background: true }, { sessionId: 'edited' });
    await decide(body.id, { decision: 'allow', arguments: { command: 'echo after', background: true } });
    const starter = await agent.ended(body.id);
    const run: Call = await agent.ended(taskOf(starter));
    expect(textOf(run)).toBe('after\n');
  });

  it('denies the same in the background as in the foreground', async () => {
    const answer = await agent.request<Problem>('POST', '/v1/calls', {
      tool: 'shell',
      arguments: { command: 'rm -rf /', background: true },
      sessionId: 'denied',
    });
    expect(answer.body).toMatchObject({ code: 'policy_denied' });
  });
});
