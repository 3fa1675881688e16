import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Problem, type WorkerStatus } from '#contracts';
import { createRedis, keys } from '#redis';
import { Agent } from '../support/agent.js';
import { startCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

describe('draining a worker on request', () => {
  let toolyard: TestCluster;
  let agent: Agent;
  let reader: Agent;
  let stranger: Agent;
  beforeAll(async () => {
    const [readKey, strangersKey] = [randomBytes(12).toString('hex'), randomBytes(12).toString('hex')];
    toolyard = await startTestCluster({ workers: 0, gateways: 0 });
    const config = join(toolyard.workspaceRoot, 'keys.yaml');
    const strangers = `{ id: stranger, key: ${strangersKey}, tenant: elsewhere, scopes: [submit, read, admin] }`;
    writeFileSync(config, `keys: [{ id: reader, key: ${readKey}, tenant: default, scopes: [submit, read] }, ${strangers}]\n`);
    const gateway = await toolyard.gateway({ TOOLYARD_CONFIG: config });
    agent = new Agent(gateway.url);
    reader = new Agent(gateway.url, readKey);
    stranger = new Agent(gateway.url, strangersKey);
  });
  afterAll(() => toolyard?.close());

  const statusOf = async (id: string) =>
    (await agent.get<{ workers: WorkerStatus[] }>('/v1/workers')).body.workers.find((worker) => worker.id === id);

  it('gives a drained worker no more calls, finishes the running ones, shows the drain, and ends it with the process', async () => {
    const worker = await toolyard.worker({ WORKER_ID: 'w-drained', WORKER_POOLS: 'shell' });
    const slow = await agent.submit('shell', { command: 'until [ -e go ]; do sleep 0.05; done; echo ended here' });
    await eventually(async () => (await agent.get(`/v1/calls/${slow.body.id}`)).body.status === 'running', 'the call to run');

    const asked = await agent.request<WorkerStatus>('POST', '/v1/workers/w-drained/drain');
    expect([asked.status, asked.body.id]).toEqual([202, 'w-drained']);
    const drained = await eventually(async () => ((await statusOf('w-drained'))?.draining ? statusOf('w-drained') : undefined), 'draining');
    expect(drained.calls).toEqual([slow.body.id]);
    // Another tenant sees that the worker is there, and nothing of whose calls it runs.
    const { body: seen } = await stranger.get<{ workers: WorkerStatus[] }>('/v1/workers');
    expect(seen.workers).toEqual([expect.objectContaining({ id: 'w-drained', calls: [] })]);
    const readiness = await fetch(`${worker.url}/readyz`);
    expect([readiness.status, readiness.headers.get('content-type')]).toEqual([503, 'application/problem+json; charset=utf-8']);
    expect(Problem.parse(await readiness.json())).toMatchObject({ code: 'overloaded', detail: 'This worker is stopping' });
    expect(Problem.parse(await (await fetch(`${worker.url}/nowhere`)).json())).toMatchObject({ status: 404, code: 'resource_not_found' });
    expect(await (await fetch(`${worker.url}/metrics`)).text()).toContain('toolyard_worker_slots{pool="shell"} 0');
    await eventually(() => worker.log().includes('"actor":"apikey:bootstrap"'), 'the log of the worker to name who asked');
    const asker = '"worker":"w-drained","actor":"apikey:bootstrap"';
    await eventually(() => toolyard.gateways[0]?.log().includes(asker), 'the log of the gateway to name who asked');

    const waits = await agent.submit('shell', { command: 'echo not here' });
    writeFileSync(join(toolyard.workspaceRoot, 'default', 'default', 'go'), '');
    expect(await agent.ended(slow.body.id)).toMatchObject({ outcome: 'completed', attempt: 1 });
    expect((await agent.get(`/v1/calls/${waits.body.id}`)).body.status).toBe('queued');

    worker.signal('SIGTERM');
    expect(await worker.ended()).toEqual({ code: 0, signal: null });
    // A worker that starts again under the same name is a new one.
    await toolyard.worker({ WORKER_ID: 'w-drained', WORKER_POOLS: 'shell' });
    expect(await agent.ended(waits.body.id)).toMatchObject({ outcome: 'completed' });
    expect((await statusOf('w-drained'))?.draining).toBe(false);
  });

  it('drains a worker on the command line, which waits until the calls of the worker have ended', async () => {
    const cli = (...words: string[]) => startCli(words, { url: agent.url });
    // The worker of the test before takes no call of this one: it hears of the request with its next heartbeat.
    expect(await cli('drain', 'w-drained').ended()).toMatchObject({ code: 0 });
    await toolyard.worker({ WORKER_ID: 'w-by-hand', WORKER_POOLS: 'shell' });
    const slow = await agent.submit('shell', { command: 'until [ -e go-on ]; do sleep 0.05; done' });
    await eventually(async () => (await statusOf('w-by-hand'))?.calls.includes(slow.body.id), 'the worker to run the call');
    expect(await cli('drain', 'w-by-hand', '--no-wait').ended()).toMatchObject({
      code: 0,
      err: expect.stringContaining('w-by-hand: draining'),
    });
    const waits = cli('drain', 'w-by-hand');
    await eventually(async () => (await statusOf('w-by-hand'))?.draining, 'draining');
    expect((await cli('workers').ended()).out).toMatch(/^w-by-hand +draining +shell 1\//m);
    expect(waits.child.exitCode).toBeNull();
    writeFileSync(join(toolyard.workspaceRoot, 'default', 'default', 'go-on'), '');
    expect(await waits.ended()).toMatchObject({ code: 0, err: expect.stringContaining('w-by-hand: drained') });
    expect(await agent.ended(slow.body.id)).toMatchObject({ outcome: 'completed' });
  });

  it('ignores in a worker a malformed drain request, or a malformed message about a deleted session', async () => {
    const worker = await toolyard.worker({ WORKER_ID: 'w-sturdy', WORKER_POOLS: 'read' });
    const redis = createRedis(toolyard.redis.url);
    for (const request of ['no JSON', '{"actor":7}', 'null']) {
      await redis.publish(keys.sessionEndChannel(), request);
      await redis.set(keys.workerDrain('w-sturdy'), request);
      await eventually(async () => (await redis.exists(keys.workerDrain('w-sturdy'))) === 0, 'the worker to put the request aside');
    }
    redis.disconnect();
    expect(worker.child.exitCode).toBeNull();
    expect((await agent.run('echo', { still: 'here' })).outcome).toBe('completed');
    for (const fault of ['a request to drain is malformed', 'a message about a deleted session is malformed'])
      await eventually(() => worker.log().includes(fault), 'the log to name the fault');
  });

  // Limit of five minutes: waits for three heartbeats, each seconds after the other.
  it('disturbs no other worker, and no running call, when a worker is drained and its clock is set', async () => {
    const [hour, id] = [3_600_000, 'w-clock'];
    const clock = { NODE_OPTIONS: `--import=${resolve('test/support/set-clock.fixture.mjs')}`, CLOCK_STEPS_MS: `${hour},${-2 * hour}` };
    for (const other of toolyard.workers) other.signal('SIGTERM');
    await Promise.all(toolyard.workers.splice(0).map((other) => other.ended()));
    await toolyard.worker({ WORKER_ID: 'w-on-time', WORKER_POOLS: 'read' });
    const worker = await toolyard.worker({ WORKER_ID: id, WORKER_POOLS: 'shell', ...clock });
    for (const [step, ahead] of [hour, -hour].entries()) {
      const { body: slow } = await agent.submit('shell', { command: `until [ -e step-${step} ]; do sleep 0.05; done; echo ended` });
      await eventually(async () => (await statusOf(id))?.calls.includes(slow.id), 'the call to run');
      worker.signal('SIGUSR2');
      const beats = new Set<string>();
      await eventually(async () => {
        // The one whose clock was set takes no other off the list with any of its heartbeats.
        expect(await statusOf('w-on-time')).toBeDefined();
        const seenAt = (await statusOf(id))?.seenAt ?? '';
        if (Math.abs(Date.parse(seenAt) - Date.now() - ahead) < hour / 2) beats.add(seenAt);
        return beats.size === 2 - step;
      }, 'heartbeats by the other clock');
      writeFileSync(join(toolyard.workspaceRoot, 'default', 'default', `step-${step}`), '');
      expect(await agent.ended(slow.id)).toMatchObject({ outcome: 'completed', attempt: 1 });
      const times = (await agent.events(slow.id)).map(({ time }) => time);
      expect(times).toEqual(times.toSorted());
      expect(Math.abs(Date.parse(times.at(-1) ?? '') - Date.now())).toBeLessThan(60_000);
    }
  }, 300_000);

  it('refuses a tenant’s administrator a drain and other settings of the installation', async () => {
    const asked = await stranger.request<{ detail: string }>('POST', '/v1/workers/w-drained/drain');
    expect(asked).toMatchObject({ status: 403, body: { detail: expect.stringContaining('needs the scope operate') } });
    expect((await stranger.get('/v1/diagnostics')).status).toBe(403);
    expect((await stranger.request('PUT', '/v1/sessions/own', { posture: { autonomy: 'supervised' } })).status).toBe(200);
    expect((await agent.get('/v1/diagnostics')).status).toBe(200);
  });

  it('accepts a drain from operators only, and for live workers', async () => {
    expect((await reader.request('POST', '/v1/workers/w-drained/drain')).status).toBe(403);
    for (const id of ['unknown', 'x%20y']) {
      const answer = await agent.request<{ code: string }>('POST', `/v1/workers/${id}/drain`);
      expect([answer.status, answer.body.code]).toEqual([404, 'resource_not_found']);
    }
  });
});
