import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rmSync, writeFileSync } from 'node:fs';
import type { Problem, SessionCancelled } from '#contracts';
import { createRedis } from '#redis';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

describe('Redis at maxmemory', () => {
  let toolyard: TestCluster;
  beforeAll(async () => {
    toolyard = await startTestCluster();
  });
  afterAll(() => toolyard.close());

  it('refuses new calls with 503 and Retry-After, lets running ones end, and accepts calls when there is room', async () => {
    const agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const redis = createRedis(toolyard.redis.url);
    const { body: running } = await agent.submit('shell', { command: 'until [ -e go ]; do sleep 0.05; done; echo finished' });
    await eventually(async () => (await agent.get(`/v1/calls/${running.id}`)).body.status === 'running', 'the call to run');

    const { body: unwanted } = await agent.submit('shell', { command: 'sleep 60' }, { sessionId: 'unwanted' });
    await eventually(async () => (await agent.get(`/v1/calls/${unwanted.id}`)).body.status === 'running', 'the other call to run');

    await redis.config('SET', 'maxmemory', '1');
    const refused = await agent.submit('echo', {});
    expect(refused).toMatchObject({ status: 503, body: { code: 'overloaded' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const isFull = (line: string) => line.includes('OOM command not allowed') && line.includes('a sweep over due calls failed');
    await eventually(() => toolyard.workers[0]?.log().split('\n').some(isFull), 'the worker to log it');

    const stopped = await agent.request<SessionCancelled>('POST', '/v1/sessions/unwanted/cancel', {});
    expect([stopped.status, stopped.body]).toEqual([202, { sessionId: 'unwanted', calls: 1, batches: 0 }]);
    expect((await agent.ended(unwanted.id)).outcome).toBe('cancelled');

    writeFileSync(`${toolyard.workspaceRoot}/default/default/go`, '');
    const call = await agent.ended(running.id);
    expect(call).toMatchObject({ outcome: 'completed', result: { content: [{ type: 'text', text: 'finished\n' }] } });

    await redis.config('SET', 'maxmemory', '0');
    // A gateway measures the memory once a second.
    await eventually(async () => (await agent.run('echo', { again: true })).outcome === 'completed', 'calls to be taken again');
    redis.disconnect();
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });
});

describe('Redis that cannot write to its disk', () => {
  it('delays new calls, then refuses them with the reason, with few log lines, and loses no accepted one', async () => {
    // A lease that outlasts the fault: the worker still holds the call when it writes its End.
    const toolyard = await startTestCluster({ env: { LEASE_MS: '600000' }, gatewayEnv: { LOG_DEADLINE_MS: '2000' } });
    const agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const disk = diskOf(toolyard);
    try {
      const before = await agent.run('echo', { text: 'before' });
      const { body: running } = await agent.submit('shell', { command: 'until [ -e go ]; do sleep 0.05; done' });
      await eventually(async () => (await agent.get(`/v1/calls/${running.id}`)).body.status === 'running', 'the call to run');
      await disk.fail();

      const refused = await agent.request<Problem>('POST', '/v1/calls', { tool: 'echo', arguments: { text: 'refused' } });
      expect(refused).toMatchObject({
        status: 503,
        body: { code: 'unavailable', detail: expect.stringContaining('Redis cannot write to its disk') },
      });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      writeFileSync(`${toolyard.workspaceRoot}/default/default/go`, '');
      for (const app of [...toolyard.gateways, ...toolyard.workers])
        await eventually(() => app.log().includes('Redis cannot write to its disk'), `the ${app.name} to log it`);

      await eventually(() => toolyard.workers[0]?.log().includes('the queue consumer failed'), 'the worker to ask for jobs');

      await disk.recover();
      expect((await agent.ended(running.id)).outcome).toBe('completed');
      await eventually(async () => (await agent.run('echo', { text: 'again' })).outcome === 'completed', 'calls to be taken again');
      expect((await agent.get(`/v1/calls/${before.id}`)).body).toEqual(before);
      expect(secondsBetween('the queue consumer failed', toolyard.workers[0]?.log() ?? '').filter((seconds) => seconds < 29)).toEqual([]);
    } finally {
      await disk.close();
      await toolyard.close();
    }
  });

  it('logs an unrenewed lease in a worker whose call writes nothing while Redis cannot write', async () => {
    const toolyard = await startTestCluster({ env: { LEASE_MS: '9000' } });
    const agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const disk = diskOf(toolyard);
    try {
      const { body: silent } = await agent.submit('shell', { command: 'sleep 600' });
      await eventually(async () => (await agent.get(`/v1/calls/${silent.id}`)).body.status === 'running', 'the call to run');
      await disk.fail();
      const [worker] = toolyard.workers;
      await eventually(() => worker?.log().includes('Redis cannot write to its disk'), 'the worker to log it');

      await disk.recover();
      await eventually(
        async () => (await agent.request('POST', `/v1/calls/${silent.id}/cancel`, {})).status < 300,
        'the cancel to be taken',
      );
      await agent.ended(silent.id);
    } finally {
      await disk.close();
      await toolyard.close();
    }
  });
});

/** Seconds from each line of this kind to the next one about the same error. */
function secondsBetween(kind: string, log: string): number[] {
  const lines = log.split('\n').filter((line) => line.includes(kind));
  const last = new Map<string, number>();
  return lines.flatMap((line) => {
    const { time, err } = JSON.parse(line) as { time: string; err: { message: string } };
    const now = Date.parse(time) / 1000;
    const before = last.get(err.message);
    last.set(err.message, now);
    return before === undefined ? [] : [now - before];
  });
}

/** The disk of the Redis of an installation: it fails when its folder is gone. */
function diskOf(toolyard: TestCluster) {
  const redis = createRedis(toolyard.redis.url);
  return {
    fail: async () => {
      const [, folder = ''] = await redis.config('GET', 'dir');
      await redis.config('SET', 'save', '3600 1');
      rmSync(folder, { recursive: true });
      await redis.bgsave();
      await eventually(async () => (await redis.info('persistence')).includes('rdb_last_bgsave_status:err'), 'the snapshot to fail');
      // Workers that wait for a job ask again, and are refused.
      const clients = String(await redis.client('LIST')).split('\n');
      for (const client of clients.filter((line) => / flags=\w*b/.test(line)))
        await redis.call('CLIENT', 'UNBLOCK', /^id=(\d+)/.exec(client)?.[1] ?? '');
    },
    recover: () => redis.config('SET', 'save', ''),
    // A Redis that cannot save its data does not end.
    close: async () => {
      await redis.config('SET', 'save', '');
      redis.disconnect();
    },
  };
}
