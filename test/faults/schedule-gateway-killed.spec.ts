import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallPage, Schedule, Stats } from '#contracts';
import { ScheduleQueue } from '#queue';
import { createRedis, keys, type RedisConnection } from '#redis';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';
import { startWebhookServer, type WebhookServer } from '../support/webhook.js';

const folder = mkdtempSync(join(tmpdir(), 'toolyard-schedule-killed-'));

describe('a schedule whose gateway is killed (SIGKILL)', () => {
  let toolyard: TestCluster;
  let webhooks: WebhookServer;
  let agent: Agent;
  let redis: RedisConnection;
  beforeAll(async () => {
    webhooks = await startWebhookServer();
    const config = join(folder, 'toolyard.json');
    const hooks = [{ name: 'slow', on: 'before', url: `${webhooks.url}/slow` }];
    writeFileSync(config, JSON.stringify({ agents: { hooked: { hooks } } }));
    toolyard = await startTestCluster({ lists: true, env: { TOOLYARD_CONFIG: config, EGRESS_ALLOW_HOSTS: `127.0.0.1:${webhooks.port}` } });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
    redis = createRedis(toolyard.redis.url);
  });
  afterAll(async () => {
    redis?.disconnect();
    await toolyard?.close();
    await webhooks?.close();
    rmSync(folder, { recursive: true });
  });

  const killGateway = async () => {
    const [gateway] = toolyard.gateways.splice(0);
    gateway?.signal('SIGKILL');
    await gateway?.ended();
  };
  const startAgain = async (env = {}) => (agent = new Agent((await toolyard.gateway(env)).url));
  const once = async (call: object, ms: number, more = {}) => {
    const at = new Date(Date.now() + ms).toISOString();
    const { status, body } = await agent.request<Schedule>('POST', '/v1/schedules', { at, call, ...more });
    expect(status).toBe(201);
    return body;
  };
  const handled = (id: string) =>
    eventually(async () => (await agent.get<Schedule>(`/v1/schedules/${id}`)).body.lastRun, 'the due time to be handled');
  const cancel = async (id = '') => expect((await agent.request('POST', `/v1/calls/${id}/cancel`, {})).status).toBe(202);
  const waiting = (id: string, dueTimes: readonly number[]) =>
    redis.exists(...dueTimes.map((dueAt) => `${keys.queuePrefix('schedules')}:${keys.scheduleQueueName()}:${id}.${dueAt}`));
  /** Resolves when no due time can make a further call, and the list has all calls. */
  const allHandled = async (id: string, dueTimes: readonly number[]) => {
    await eventually(async () => (await waiting(id, dueTimes)) === 0, 'the due times to be handled');
    await eventually(async () => (await agent.get<Stats>('/v1/stats')).body.behind === undefined, 'the list of calls to be complete');
  };
  const callsOf = async (id: string) => (await agent.get<CallPage>(`/v1/calls?scheduleId=${id}`)).body.calls;

  it('makes one call of the due times of a schedule that waited for the same end', async () => {
    const call = { tool: 'sleep', arguments: { duration_ms: 600_000 } };
    const { body: made } = await agent.request<Schedule>('POST', '/v1/schedules', { everyMs: 86_400_000, overlap: 'queue', call });
    const { body: first } = await agent.request('POST', `/v1/schedules/${made.id}/run`);
    // A gateway that looks for due times which the queue has lost adds further ones.
    const queue = new ScheduleQueue(toolyard.redis.url, () => {});
    const now = Date.now();
    const dueTimes = Array.from({ length: 10 }, (_unused, n) => now + n + 1);
    for (const dueAt of dueTimes) await queue.add({ tenantId: 'default', scheduleId: made.id, dueAt });
    expect(await waiting(made.id, dueTimes)).toBe(10);
    await cancel(first.id);
    const next = await eventually(async () => {
      const { lastRun } = (await agent.get<Schedule>(`/v1/schedules/${made.id}`)).body;
      return lastRun?.callId === first.id ? undefined : lastRun?.callId;
    }, 'the run that waited');
    await allHandled(made.id, dueTimes);
    expect((await callsOf(made.id)).map(({ id }) => id)).toEqual([next, first.id]);
    await agent.request('DELETE', `/v1/schedules/${made.id}`);
    await cancel(next);
    await queue.close();
  });

  it('makes one call each of two due times if the gateway of the first is lost between submission and store', async () => {
    const call = { tool: 'sleep', arguments: { duration_ms: 600_000 }, agentId: 'hooked' };
    let release = () => {};
    webhooks.on('/slow', (_request, response) => (release = () => void response.writeHead(204).end()));
    const { body: made } = await agent.request<Schedule>('POST', '/v1/schedules', { everyMs: 86_400_000, overlap: 'queue', call });
    const queue = new ScheduleQueue(toolyard.redis.url, () => {});
    const due = { tenantId: 'default', scheduleId: made.id };
    const before = webhooks.to('/slow').length;
    const first = Date.now();
    await queue.add({ ...due, dueAt: first });
    await eventually(() => webhooks.to('/slow').length > before, 'the submission to begin');
    const duringSubmission = await redis.hgetall(keys.scheduleRuns('default'));
    webhooks.on('/slow', {});
    release();
    const { callId = '' } = await handled(made.id);
    await cancel(callId);
    await agent.ended(callId);
    // A gateway that is lost now leaves the call, and the stored state of the time before.
    await redis.hdel(keys.scheduleRuns('default'), made.id);
    if (Object.keys(duringSubmission).length > 0) await redis.hset(keys.scheduleRuns('default'), duringSubmission);
    const second = Date.now();
    await queue.add({ ...due, dueAt: second });
    const next = await eventually(async () => {
      const { lastRun } = (await agent.get<Schedule>(`/v1/schedules/${made.id}`)).body;
      return lastRun?.callId === callId ? undefined : lastRun?.callId;
    }, 'the run of the second due time');
    await queue.add({ ...due, dueAt: first });
    await cancel(next);
    await agent.ended(next ?? '');
    await allHandled(made.id, [first, second]);
    expect((await callsOf(made.id)).map(({ id }) => id)).toEqual([next, callId]);
    await agent.request('DELETE', `/v1/schedules/${made.id}`);
    expect(await redis.hgetall(keys.scheduleRuns('default'))).not.toHaveProperty(`claim:${made.id}`);
    await queue.close();
  });

  it('makes exactly one call of a schedule whose gateway is killed between its due time and the submission', async () => {
    webhooks.on('/slow', () => {});
    const before = webhooks.to('/slow').length;
    const { id, at = '' } = await once({ tool: 'echo', arguments: { n: 1 }, agentId: 'hooked' }, 5_000);
    await eventually(() => webhooks.to('/slow').length > before, 'the submission to begin');
    await killGateway();
    webhooks.on('/slow', {});
    await startAgain();
    const { callId = '' } = await handled(id);
    expect((await agent.ended(callId)).outcome).toBe('completed');
    expect(webhooks.to('/slow')).toHaveLength(before + 2);
    await allHandled(id, [Date.parse(at)]);
    expect(await callsOf(id)).toHaveLength(1);
  });

  it('makes up for a due time of a schedule when a gateway is started that was killed before it', async () => {
    const { id, at = '' } = await once({ tool: 'echo', arguments: { n: 2 } }, 5_000);
    await killGateway();
    await startAgain();
    const { callId = '' } = await handled(id);
    expect((await agent.ended(callId)).outcome).toBe('completed');
    await allHandled(id, [Date.parse(at)]);
    expect(await callsOf(id)).toHaveLength(1);
  });

  it('skips and counts a due time missed by more than a minute if the schedule says so', async () => {
    const skipping = await once({ tool: 'echo', arguments: { n: 3 } }, 30_000, { missed: 'skip' });
    const running = await once({ tool: 'echo', arguments: { n: 4 } }, 30_000, { missed: 'run' });
    await killGateway();
    const clock = `--import=${resolve('test/support/set-clock.fixture.mjs')}`;
    await startAgain({ NODE_OPTIONS: clock, CLOCK_AHEAD_MS: '120000' });
    expect(await handled(skipping.id)).toMatchObject({ skipped: 'missed' });
    expect(await callsOf(skipping.id)).toEqual([]);
    const { callId = '' } = await handled(running.id);
    expect((await agent.ended(callId)).outcome).toBe('completed');
    const metrics = await (await fetch(`${agent.url}/metrics`)).text();
    for (const result of ['missed', 'submitted']) expect(metrics).toContain(`toolyard_schedule_runs_total{result="${result}"} 1\n`);
    const [, sum] = /^toolyard_schedule_delay_seconds_sum (\S+)$/m.exec(metrics) ?? [];
    expect(Number(sum)).toBeGreaterThan(60);
  });
});
