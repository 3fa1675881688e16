import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApprovalPage } from '#contracts';
import { createRedis, keys } from '#redis';
import { Agent } from '../support/agent.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const SESSION = 'asked';

describe('approvals while everything is killed (SIGKILL) and started again', () => {
  let toolyard: TestCluster;
  let agent: Agent;
  beforeAll(async () => {
    toolyard = await startTestCluster({ env: { LEASE_MS: '8000', WORKER_CONCURRENCY: 'write=1' } });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
    await agent.request('PUT', `/v1/sessions/${SESSION}`, { posture: { permissionMode: 'prompt' } });
  });
  afterAll(() => toolyard.close());

  const file = (name: string) => join(toolyard.workspaceRoot, 'default', 'sessions', SESSION, name);
  const ask = async (path: string, content: string) => (await agent.submit('file_write', { path, content }, { sessionId: SESSION })).body;
  const decide = (id: string, body: object) => agent.request('POST', `/v1/calls/${id}/decision`, body);

  const killAll = async () => {
    const apps = [...toolyard.gateways.splice(0), ...toolyard.workers.splice(0)];
    for (const app of apps) app.signal('SIGKILL');
    await Promise.all(apps.map((app) => app.ended()));
  };
  const startAgain = async () => {
    await toolyard.redis.kill();
    await toolyard.redis.start();
    agent = new Agent((await toolyard.gateway()).url);
  };

  it('preserves the question of a call over a kill, runs an allowed call once, and applies its grants [EV-09, PP-75, PP-90]', async () => {
    const [asked, allowed] = [await ask('later', 'later'), await ask('once', 'once')];
    await Promise.all(toolyard.workers.splice(0).map((worker) => (worker.signal('SIGKILL'), worker.ended())));
    expect((await decide(allowed.id, { decision: 'allow' })).status).toBe(200);
    await killAll();
    await startAgain();
    await toolyard.worker();

    expect((await agent.ended(allowed.id)).outcome).toBe('completed');
    expect(readFileSync(file('once'), 'utf8')).toBe('once');
    expect((await agent.events(allowed.id)).filter(({ type }) => type === 'call.start')).toHaveLength(1);

    const { body: page } = await agent.get<ApprovalPage>('/v1/approvals');
    expect(page.calls).toEqual([asked]);
    expect((await decide(asked.id, { decision: 'allow', scope: 'session-tool' })).status).toBe(200);
    expect((await agent.ended(asked.id)).outcome).toBe('completed');
    await killAll();
    await startAgain();
    await toolyard.worker();
    const again = await ask('granted', 'granted');
    expect((await agent.ended(again.id)).outcome).toBe('completed');
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });

  it('refuses to run when one byte of the stored arguments changed after the approval', async () => {
    await agent.request('PUT', `/v1/sessions/${SESSION}`, { grants: {} });
    await Promise.all(toolyard.workers.splice(0).map((worker) => (worker.signal('SIGKILL'), worker.ended())));
    const call = await ask('tampered', 'x'.repeat(10_000));
    expect((await decide(call.id, { decision: 'allow' })).status).toBe(200);
    const redis = createRedis(toolyard.redis.url);
    const key = keys.blob(call.id, 'arguments');
    const stored = (await redis.get(key)) ?? '';
    await redis.set(key, stored.replace('xx', 'xy'), 'KEEPTTL');
    redis.disconnect();
    await toolyard.worker();

    expect(await agent.ended(call.id)).toMatchObject({ outcome: 'denied', error: { code: 'approval_denied' } });
    expect(existsSync(file('tampered'))).toBe(false);
  });

  it('runs a call of another session through the one slot of their pool while a hundred wait [PP-91]', async () => {
    const waiting = await Promise.all(Array.from({ length: 100 }, (_unused, n) => ask(`waits-${n}`, 'x')));
    expect(new Set(waiting.map(({ status }) => status))).toEqual(new Set(['waiting_approval']));
    const other = await agent.accepted('file_write', { path: 'passes', content: 'x' }, { sessionId: 'not-asked' });
    expect((await agent.ended(other.id)).outcome).toBe('completed');
    for (const { id } of waiting)
      expect((await agent.get(`/v1/calls/${id}`)).body).toMatchObject({ status: 'waiting_approval', attempt: 0 });
  });

  it('ends an approval without a decision in time as denied [PP-95]', async () => {
    const soon = new Agent((await toolyard.gateway({ APPROVAL_MS: '1000' })).url);
    const { body } = await soon.submit('file_write', { path: 'never', content: 'x' }, { sessionId: SESSION });
    expect(await agent.ended(body.id)).toMatchObject({ outcome: 'denied', error: { code: 'approval_expired' } });
    expect((await decide(body.id, { decision: 'allow' })).status).toBe(409);
  });
});
