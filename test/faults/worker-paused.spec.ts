import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRedis } from '#redis';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { queueKey } from '../support/queue-key.js';
import { startTestCluster, type AppProcess, type TestCluster } from '../support/test-cluster.js';

/** Lease of the worker that is paused; the others keep their calls however slow the machine is. */
const SHORT_LEASE = { LEASE_MS: '3000' };

describe('a worker that is paused (SIGSTOP) for longer than its lease', () => {
  let toolyard: TestCluster;
  let folder = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolyard-paused-'));
    writeFileSync(join(folder, 'toolyard.yaml'), 'policy: { egress: { privateHosts: [127.0.0.1] } }\n');
    const env = { LEASE_MS: '30000', EGRESS_ALLOW_HOSTS: '127.0.0.1', TOOLYARD_CONFIG: join(folder, 'toolyard.yaml') };
    toolyard = await startTestCluster({ workers: 0, env });
    await toolyard.worker(SHORT_LEASE);
  });
  afterAll(async () => {
    await toolyard.close();
    rmSync(folder, { recursive: true });
  });

  const fencedOff = async (worker: AppProcess | undefined) => {
    const metrics = await (await fetch(`${worker?.url}/metrics`)).text();
    return (
      /toolyard_lease[s]?_lost_total\{[^}]*\} [1-9]/.test(metrics) ||
      /toolyard_transitions_refused_total\{[^}]*code="(FENCED|ENDED)"[^}]*\} [1-9]/.test(metrics)
    );
  };

  it('ends a cancelled call of a paused worker, whose command had ended before, with an unknown receipt', async () => {
    const agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const [paused] = toolyard.workers;
    const done = join(toolyard.workspaceRoot, 'default', 'default', 'done');
    const { body } = await agent.submit('shell', { command: 'echo up; until [ -e go ]; do sleep 0.05; done; echo > done' });
    await eventually(async () => (await agent.events(body.id)).some(({ type }) => type === 'call.update'), 'the command to run');
    paused?.signal('SIGSTOP');
    writeFileSync(join(done, '..', 'go'), '');
    await eventually(() => existsSync(done), 'the command to end');
    expect((await agent.request('POST', `/v1/calls/${body.id}/cancel`, { graceMs: 200 })).status).toBe(202);
    const second = await toolyard.worker();
    expect(await agent.ended(body.id)).toMatchObject({ outcome: 'cancelled' });
    const end = (await agent.events(body.id)).at(-1);
    expect(end).toMatchObject({
      type: 'call.end',
      actor: 'system:reconciler',
      data: { stopped: { how: 'unknown' }, updates: { count: 1 } },
    });
    paused?.signal('SIGCONT');
    second.signal('SIGTERM');
    await second.ended();
  });

  it('refuses the End of a paused worker for a call that another worker ended [DX-04]', async () => {
    const agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const [paused] = toolyard.workers;
    const gate = join(toolyard.workspaceRoot, 'default', 'default', 'gate');
    const { body } = await agent.submit('shell', { command: 'until [ -e gate ]; do sleep 0.05; done; echo late' });
    await eventually(async () => (await agent.get(`/v1/calls/${body.id}`)).body.status === 'running', 'the call to run');
    paused?.signal('SIGSTOP');
    writeFileSync(gate, '');
    await toolyard.worker();

    const call = await agent.ended(body.id);
    expect(call).toMatchObject({ outcome: 'unknown', error: { code: 'outcome_unknown' } });
    paused?.signal('SIGCONT');
    await eventually(() => fencedOff(paused), 'the paused worker to notice that it is out');

    expect((await agent.get(`/v1/calls/${body.id}`)).body).toEqual(call);
    expect((await agent.events(body.id)).filter((event) => event.type === 'call.end')).toHaveLength(1);
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });

  it('refuses the End of a worker that was paused while another worker runs its call again', async () => {
    const agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const requests: ServerResponse[] = [];
    const site = createServer((_request, response) => void requests.push(response));
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const { port } = site.address() as AddressInfo;
    for (const worker of toolyard.workers.splice(0)) {
      worker.signal('SIGTERM');
      await worker.ended();
    }
    const paused = await toolyard.worker(SHORT_LEASE);
    try {
      const { body } = await agent.submit('web_fetch', { url: `http://127.0.0.1:${port}/` });
      await eventually(() => requests.length === 1, 'the first attempt to ask the site');
      paused.signal('SIGSTOP');
      requests[0]?.end('of the first attempt');
      await toolyard.worker();
      await eventually(() => requests.length === 2, 'the second attempt to ask the site');
      paused.signal('SIGCONT');
      await eventually(() => fencedOff(paused), 'the paused worker to notice that it is out');
      expect((await agent.get(`/v1/calls/${body.id}`)).body).toMatchObject({ status: 'running', attempt: 2 });
      requests[1]?.end('of the second attempt');

      const call = await agent.ended(body.id);
      expect(call).toMatchObject({ outcome: 'completed', attempt: 2 });
      expect(JSON.stringify(call.result)).toContain('of the second attempt');
      expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
    } finally {
      site.close();
    }
  });

  it('gives an idle paused worker one last call, which another worker runs, and none that must not run twice', async () => {
    const agent = new Agent(toolyard.gateways[0]?.url ?? '');
    for (const worker of toolyard.workers.splice(0)) {
      worker.signal('SIGTERM');
      await worker.ended();
    }
    const paused = await toolyard.worker(SHORT_LEASE);
    const redis = createRedis(toolyard.redis.url);
    const registered = async () => (await redis.hvals((await redis.keys(queueKey('read', 'idle:*')))[0] ?? '')).join();
    const first = await eventually(registered, 'the worker to be known as idle');
    // A registration is valid for a while only: a new one is valid for the whole of it.
    await eventually(async () => ![first, ''].includes(await registered()), 'the worker to be known as idle again');
    redis.disconnect();
    paused.signal('SIGSTOP');
    const { body: shell } = await agent.submit('shell', { command: 'echo once' });
    const { body: handed } = await agent.submit('echo', { n: 1 });
    await eventually(async () => (await agent.get(`/v1/calls/${handed.id}`)).body.status === 'running', 'the call to be handed over');
    expect((await agent.get(`/v1/calls/${shell.id}`)).body).toMatchObject({ status: 'queued', attempt: 0 });

    await toolyard.worker();
    expect(await agent.ended(shell.id)).toMatchObject({ outcome: 'completed', attempt: 1 });
    const call = await agent.ended(handed.id);
    expect(call).toMatchObject({ outcome: 'completed', attempt: 2 });
    paused.signal('SIGCONT');
    await eventually(() => fencedOff(paused), 'the paused worker to notice that it is out');
    expect((await agent.get(`/v1/calls/${handed.id}`)).body).toEqual(call);
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });
});
