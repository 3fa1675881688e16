// Tests of hooks outside the shared installation: logs, metrics, Redis content and a lost message.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedis, type RedisConnection } from '#redis';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { isAlive, problemOf } from '../support/hook-tenant.js';
import { startTestCluster, type AppProcess, type TestCluster } from '../support/test-cluster.js';
import { startWebhookServer, type WebhookServer } from '../support/webhook.js';

const ON_BEFORE = { name: 'guard', on: 'before' };
const ON_AFTER = { name: 'review', on: 'after' };
const GITHUB = 'ghp_0a1b2c3d4e5f6g7h8i9j0a1b2c3d4e5f6g7h';

describe('a hook of an installation of its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-hooks-'));
  const pidFile = join(folder, 'pids');
  let webhooks: WebhookServer;
  let toolyard: TestCluster;
  let agent: Agent;
  let redis: RedisConnection;

  beforeAll(async () => {
    webhooks = await startWebhookServer();
    const url = (path: string) => webhooks.url + path;
    const sleeper = `sleep 600 & echo $! >> ${pidFile}; echo $$ >> ${pidFile}; wait`;
    const agents = {
      keeping: { hooks: [{ ...ON_BEFORE, url: url('/keeping'), cacheMs: 60_000, secrets: true }] },
      stopped: { hooks: [{ ...ON_BEFORE, command: sleeper, timeoutMs: 60_000 }] },
      'not-set-up': { hooks: [{ ...ON_AFTER, url: url('/not-set-up'), secretEnv: 'HOOK_TEST_NOT_SET' }] },
      refusing: { hooks: [{ ...ON_BEFORE, command: 'exit 2' }] },
      caching: { hooks: [{ ...ON_AFTER, command: 'printf seen', cacheMs: 60_000 }] },
    };
    const env = { EGRESS_ALLOW_HOSTS: `127.0.0.1:${webhooks.port}` };
    toolyard = await startTestCluster({ workers: 2, env, config: { agents } });
    agent = toolyard.agent;
    redis = createRedis(toolyard.redis.url);
  });
  afterAll(async () => {
    redis?.disconnect();
    await toolyard?.close();
    await webhooks.close();
    rmSync(folder, { recursive: true });
  });

  it('asks a hook again whose question or answer has a secret, and caches nothing of it', async () => {
    const sessionId = 'keeping';
    const answers = [{ arguments: { url: 'x', token: 'q7-of-the-hook' } }, { feedback: `use ${GITHUB}` }, {}];
    for (const [at, answer] of answers.entries()) {
      webhooks.on('/keeping', answer);
      const args = at === 2 ? { password: 'hunter2x' } : { at };
      for (let n = 0; n < 2; n++) expect((await agent.run('echo', args, { agentId: 'keeping', sessionId })).outcome).toBe('completed');
    }
    expect(webhooks.to('/keeping')).toHaveLength(6);
    expect(await redis.keys(`hook-answer:*${sessionId}*`)).toEqual([]);
  });

  it('stops a hook also when the message about its cancelled session was lost [HK-20]', async () => {
    const sessionId = 'cancelled';
    // An earlier cancel is none of this call.
    await agent.request('POST', `/v1/sessions/${sessionId}/cancel`, {});
    const submitted = agent.submit('echo', {}, { agentId: 'stopped', sessionId });
    const pids = await eventually(() => {
      const lines = existsSync(pidFile) ? readFileSync(pidFile, 'utf8').split('\n').slice(0, -1) : [];
      return lines.length >= 2 ? lines : undefined;
    }, 'the processes of the hook');
    await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually(
      async () => ((await redis.pubsub('NUMSUB', 'toolyard:batch'))[1] === 1 ? true : undefined),
      'the subscription to be back',
    );
    expect(pids.every(isAlive)).toBe(true);
    const cancelled = agent.request('POST', `/v1/sessions/${sessionId}/cancel`, {});
    let answered = false;
    void cancelled.finally(() => (answered = true));
    while (!answered) await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    expect((await cancelled).status).toBe(202);
    expect(problemOf(await submitted).detail).toContain('Cancelled: the session was cancelled while hook `guard` ran');
    await eventually(() => !pids.some(isAlive), 'the processes of the hook to be gone');
  });

  it('fails without naming the variable to the model when the worker lacks its secret; the log names it once', async () => {
    const run = () => agent.run('echo', { n: 1 }, { agentId: 'not-set-up' });
    for (const call of [await run(), await run()]) {
      expect(JSON.stringify(call)).toContain('is not set up in the process that runs it');
      expect(JSON.stringify([call, await agent.events(call.id)])).not.toContain('HOOK_TEST_NOT_SET');
    }
    expect(webhooks.to('/not-set-up')).toEqual([]);
    const linesOf = (worker: AppProcess) => worker.log().split('\n');
    const lines = toolyard.workers.map((worker) => linesOf(worker).filter((line) => line.includes('HOOK_TEST_NOT_SET')));
    expect(lines.flat().length).toBeGreaterThan(0);
    for (const said of lines) expect(said.length).toBeLessThanOrEqual(1);
    expect(lines.flat().join()).not.toContain('"stack"');
  });

  it('counts hooks by event and verdict', async () => {
    await agent.submit('echo', {}, { agentId: 'refusing' });
    for (let n = 0; n < 2; n++) await agent.run('echo', {}, { agentId: 'caching', sessionId: 'counted' });
    const metricsOf = async ({ url }: AppProcess) => (await fetch(`${url}/metrics`)).text();
    const gateways = (await Promise.all(toolyard.gateways.map(metricsOf))).join('\n');
    expect(gateways).toMatch(/toolyard_hook_runs_total\{event="before",verdict="deny",cached="false"\} [1-9]/);
    const workers = (await Promise.all(toolyard.workers.map(metricsOf))).join('\n');
    expect(workers).toMatch(/toolyard_hook_runs_total\{event="after",verdict="allow",cached="true"\} [1-9]/);
  });
});
