import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import type { SessionCancelled } from '#contracts';
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

  it('refuses new calls with 503 and Retry-After, lets running ones finish or be cancelled, and takes calls again when there is room', async () => {
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
