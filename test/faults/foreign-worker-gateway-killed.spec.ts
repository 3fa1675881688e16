import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ToolyardWorker, workerTool } from '#client/worker';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { ADD, ScriptedWorker } from '../support/foreign-worker.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { roundRobin } from '../support/round-robin.js';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';

describe('a gateway that is killed (SIGKILL) while a worker in another language runs its calls', () => {
  let toolyard: TestCluster;
  beforeAll(async () => {
    toolyard = await startTestCluster({ gateways: 2, workers: 1, env: { LEASE_MS: '30000' } });
  });
  afterAll(() => toolyard.close());

  it('ends each call of a foreign worker once, as completed, when it connects to the other gateway', async () => {
    const [victim, survivor] = toolyard.gateways;
    const agent = new Agent(survivor?.url ?? '');
    const worker = await ScriptedWorker.ready(victim?.url ?? '', TEST_KEY, 'adder', [ADD], 20);
    const isListed = async () =>
      (await agent.get<{ tools: { name: string }[] }>('/v1/tools')).body.tools.some(({ name }) => name === 'add');
    await eventually(isListed, 'the other gateway to know the tool');
    const ids = await Promise.all(Array.from({ length: 20 }, async (_unused, a) => (await agent.submit('add', { a, b: 1 })).body.id));
    const calls = [];
    while (calls.length < ids.length) calls.push(await worker.next('call'));
    const effects = calls.map(({ callId }) => callId);
    // Half of the answers may or may not have arrived: they are repeated.
    for (const call of calls.slice(10)) worker.finish(call, `of ${call.callId}`);
    victim?.signal('SIGKILL');
    await victim?.ended();

    const again = await ScriptedWorker.ready(survivor?.url ?? '', TEST_KEY, 'adder', [ADD], 0);
    again.send({
      op: 'renew',
      callIds: calls.slice(0, 5).map(({ callId }) => callId),
      fences: calls.slice(0, 5).map(({ fence }) => fence),
    });
    for (const call of calls) again.finish(call, `of ${call.callId}`);
    for (const _call of calls) await again.next('done');
    const ended = await Promise.all(ids.map((id) => agent.ended(id)));
    expect(ended.map(({ outcome }) => outcome)).toEqual(ids.map(() => 'completed'));
    expect(ended.map(({ result }) => JSON.stringify(result))).toEqual(ids.map((id) => expect.stringContaining(`of ${id}`)));
    expect(effects.toSorted()).toEqual(ids.toSorted());
    expect(again.frames.filter(({ op }) => op === 'call' || op === 'stale')).toEqual([]);
    again.close();
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });

  it('ends each call once when a foreign worker polls through a balancer and its first gateway dies', async () => {
    const victim = await toolyard.gateway();
    const others = toolyard.gateways.filter((it) => it !== victim && it.child.exitCode === null && it.child.signalCode === null);
    let urls = [victim.url];
    const { fetch, sent } = roundRobin('http://balancer', () => urls);
    const ran: string[] = [];
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const tool = workerTool({
      name: 'gated',
      description: 'Waits for the test.',
      input: z.strictObject({ n: z.number() }),
      run: async ({ n }, { callId, onUpdate }) => {
        ran.push(callId);
        onUpdate(`began ${n}`);
        await gate;
        return `done ${n}`;
      },
    });
    const options = { baseUrl: 'http://balancer', apiKey: TEST_KEY, name: 'balanced', tools: [tool], slots: 20 };
    const worker = new ToolyardWorker({ ...options, fetch });
    const run = worker.run();
    try {
      await eventually(async () => sent.length > 1, 'hello at the victim');
      urls = [victim.url, ...others.map(({ url }) => url)];
      const agent = new Agent(others[0]?.url ?? '');
      const isListed = async () =>
        (await agent.get<{ tools: { name: string }[] }>('/v1/tools')).body.tools.some(({ name }) => name === 'gated');
      await eventually(isListed, 'the tool');
      const ids = await Promise.all(Array.from({ length: 20 }, async (_unused, n) => (await agent.submit('gated', { n })).body.id));
      await eventually(async () => ran.length === ids.length, 'all calls to run');
      victim.signal('SIGKILL');
      await victim.ended();
      open();
      const ended = await Promise.all(ids.map((id) => agent.ended(id)));
      expect(ended.map(({ outcome }) => outcome)).toEqual(ids.map(() => 'completed'));
      expect(ran.toSorted()).toEqual(ids.toSorted());
      expect(sent.filter((url) => url.endsWith('/v1/workers')).length).toBe(2);
    } finally {
      open();
      worker.stop();
      await run;
    }
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });
});
