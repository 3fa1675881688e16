import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SourcePage } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { modernTasks, olderTasks, type TaskServer } from '../support/task-servers.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** Longer than a test needs to see that the call waits, so that no worker looks when it is killed. */
const BETWEEN_LOOKS_MS = 10_000;
const folder = mkdtempSync(join(tmpdir(), 'toolyard-bridged-tasks-'));

describe('a worker that is killed (SIGKILL) while a bridged MCP server runs a task of a call', () => {
  let toolyard: TestCluster;
  let agent: Agent;
  const servers: Record<string, TaskServer> = {};

  beforeAll(async () => {
    Object.assign(servers, {
      newer: await modernTasks({ answer: { pollIntervalMs: BETWEEN_LOOKS_MS } }),
      // Tasks of an idempotent tool, which counts in a trusted source: another attempt may follow the task.
      older: await olderTasks(),
      // The same, and what it says of its tools does not count.
      untrusted: await olderTasks(),
    });
    const sources = Object.entries(servers).map(([name, { url }]) => ({ name, kind: 'mcp', url, trust: name === 'older' }));
    const config = join(folder, 'toolyard.json');
    writeFileSync(config, JSON.stringify({ sources }));
    toolyard = await startTestCluster({ env: { TOOLYARD_CONFIG: config, LEASE_MS: '5000' } });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const ready = async () => (await agent.get<SourcePage>('/v1/sources')).body.sources.every(({ status }) => status === 'ok');
    await eventually(ready, 'both servers to be read');
  });
  afterAll(async () => {
    await toolyard?.close();
    for (const server of Object.values(servers)) server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['newer', 'between two looks at the task', 'queued'],
    ['older', 'while its attempt follows the task', 'running'],
  ] as const)(
    'hands a task of a killed worker to another one, which continues the same task: %s revision, %s',
    async (name, _when, status) => {
      const server = servers[name];
      const { id } = await agent.accepted(`${name}__held`, {});
      await eventually(async () => {
        // The state of the task: the second attempt has looked, and the id of the task was kept with the call before.
        const looked = (await agent.events(id)).some(({ type }) => type === 'call.progress');
        return looked && (await agent.get(`/v1/calls/${id}`)).body.status === status;
      }, `the call to be ${status} with a task`);
      const [victim] = toolyard.workers.splice(0);
      victim?.signal('SIGKILL');
      await victim?.ended();
      await toolyard.worker();
      server?.release();
      const call = await agent.ended(id);
      expect(call).toMatchObject({ outcome: 'completed', result: { content: [{ text: expect.stringContaining('held') }] } });
      expect(server?.begun()).toBe(1);
      const events = await agent.events(id);
      expect(events.filter(({ type }) => type === 'call.end')).toHaveLength(1);
      const lost = events.filter((event) => event.type === 'call.retry' && event.data.reason === 'worker_lost');
      expect(lost).toHaveLength(status === 'running' ? 1 : 0);
    },
  );

  it('ends a task of a killed worker as unknown without repeating it if the server is not trusted', async () => {
    const { id } = await agent.accepted('untrusted__held', {});
    await eventually(async () => {
      const follows = (await agent.events(id)).some(({ type }) => type === 'call.progress');
      return follows && (await agent.get(`/v1/calls/${id}`)).body.status === 'running';
    }, 'an attempt to follow the task');
    const [victim] = toolyard.workers.splice(0);
    victim?.signal('SIGKILL');
    await victim?.ended();
    await toolyard.worker();
    expect(await agent.ended(id)).toMatchObject({ outcome: 'unknown', error: { code: 'outcome_unknown', retryable: false } });
    servers['untrusted']?.release();
    expect(servers['untrusted']?.begun()).toBe(1);
    const types = (await agent.events(id)).map(({ type }) => type);
    expect(types.filter((type) => type === 'call.end')).toHaveLength(1);
    expect(types.at(-1)).toBe('call.end');
  });
});
