import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** Beside the bootstrap key's tenant, two that share the pools. */
const config = {
  keys: ['greedy', 'modest', 'bounded'].map((tenant) => ({ id: tenant, key: `key-of-the-tenant-${tenant}`, tenant, agent: tenant })),
  tenants: { bounded: { agents: { bounded: { limits: { actionsPerHour: 20, concurrency: [{ per: 'key', calls: 20 }] } } } } },
};

describe('limits and fair share over whole processes', () => {
  let toolyard: TestCluster;
  let folder: string;

  const agentOf = (tenant: string, gateway = 0) => new Agent(toolyard.gateways[gateway]?.url ?? '', `key-of-the-tenant-${tenant}`);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolyard-limits-'));
    const file = join(folder, 'toolyard.json');
    writeFileSync(file, JSON.stringify(config));
    toolyard = await startTestCluster({
      lists: true,
      gateways: 3,
      workers: 0,
      env: { TOOLYARD_CONFIG: file, LEASE_MS: '8000', WORKER_CONCURRENCY: 'read=2,write=4' },
    });
  });
  afterAll(async () => {
    await toolyard.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('starts one tenant’s call behind 2,000 of another as soon as one of the other’s own', async () => {
    const greedy = agentOf('greedy');
    const [queued, ids] = [2_000, new Array<string>()];
    const send = async () => {
      while (ids.length < queued) ids.push(await greedy.accepted('echo', {}).then(({ id }) => id));
    };
    await Promise.all(Array.from({ length: 64 }, send));
    const modest = agentOf('modest', 1);
    const { body } = await modest.submit('echo', {});
    await toolyard.worker({ WORKER_POOLS: 'read', WORKER_CONCURRENCY: 'read=2' });
    const startOf = async (agent: Agent, id: string) => Date.parse((await agent.ended(id)).startedAt ?? '');
    // Some are fetched ahead of their turn, far fewer than a hundred.
    expect(await startOf(modest, body.id)).toBeLessThanOrEqual(await startOf(greedy, ids[100] ?? ''));
  });

  it('runs exactly 20 of 25 actions at three gateways, and leaks no place to killed processes [PP-101]', async () => {
    const workers = await Promise.all([1, 2, 3].map(() => toolyard.worker({ WORKER_POOLS: 'write', WORKER_CONCURRENCY: 'write=4' })));
    const submit = async (n: number) =>
      agentOf('bounded', n % 3).submit('file_write', { path: `${n}.txt`, content: 'x' }, { sessionId: 's' });
    const answers = await Promise.all(Array.from({ length: 25 }, (_unused, n) => submit(n)));
    for (const app of [...workers, toolyard.gateways[2]]) app?.signal('SIGKILL');
    await toolyard.worker({ WORKER_POOLS: 'write', WORKER_CONCURRENCY: 'write=4' });

    const accepted = answers.filter(({ status }) => status === 202).map(({ body }) => body.id);
    expect(accepted).toHaveLength(20);
    const ended = await Promise.all(accepted.map((id) => agentOf('bounded').ended(id)));
    expect(ended.every(({ status }) => status === 'ended')).toBe(true);

    // The action budget is spent, the 20 places of open calls are not: reading goes on.
    const open = await Promise.all(Array.from({ length: 20 }, (_unused, n) => agentOf('bounded', n % 2).submit('glob', { pattern: '*' })));
    expect(open.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 202));
    await eventually(
      async () => (await agentOf('bounded').submit('file_write', { path: 'a', content: 'x' }, { sessionId: 's' })).status === 429,
      'the budget to hold',
    );
  });
});
