import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WORKER_PROTOCOL } from '#contracts';
import { Agent } from '../support/agent.js';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { eventually } from '../support/eventually.js';
import { ADD } from '../support/foreign-worker.js';
import { startTestCluster, type AppProcess, type TestCluster } from '../support/test-cluster.js';

describe('an installation that reaches Redis through a proxy', () => {
  let toolyard: TestCluster;
  let proxy: FaultyProxy;
  beforeAll(async () => {
    toolyard = await startTestCluster({ gateways: 0, workers: 0, config: { sources: [{ name: 'foreign', kind: 'worker' }] } });
    proxy = await FaultyProxy.start(toolyard.redis.url);
    const env = { REDIS_URL: proxy.url.replace('http:', 'redis:') };
    const [gateway] = await Promise.all([toolyard.gateway(env), toolyard.worker({ ...env, WORKER_POOLS: 'read' })]);
    // A worker that polls: two connections of the gateway are for such workers, and are opened by the first.
    const hello = { op: 'hello', protocol: WORKER_PROTOCOL, worker: 'foreign', sdk: 'test/1', tools: [ADD] };
    expect((await new Agent(gateway.url).request('POST', '/v1/workers', hello)).status).toBe(201);
  });
  afterAll(async () => {
    await toolyard?.close();
    await proxy?.close();
  });

  const readiness = async (app: AppProcess | undefined) => {
    const answer = await fetch(`${app?.url}/readyz`);
    return { ok: answer.ok, text: await answer.text() };
  };

  const SCHEDULES = ['schedules', 'schedules-worker', 'schedules-wait'];
  const FOREIGN = ['gateway-polls', 'gateway-cancels'];
  const GATEWAY = [
    'gateway',
    'gateway-prompt',
    'queue',
    'gateway-batches',
    'tail',
    ...SCHEDULES,
    'agents-worker',
    'agents-worker-wait',
    ...FOREIGN,
  ];
  const WORKER = ['worker', 'queue', 'queue-worker-wait', 'queue-worker-hand', 'worker-cancels', 'worker-leases'];
  it.each([
    ...GATEWAY.map((name) => ['gateway', name, () => toolyard.gateways[0], name] as const),
    ...WORKER.map((name) => ['worker', name, () => toolyard.workers[0], name === 'worker-leases' ? 'Leases' : name] as const),
  ])('answers 503 to /readyz of a %s while only its connection %s is away, and 200 when it is back', async (_app, name, app, says) => {
    await eventually(async () => (await readiness(app())).ok, 'the app to be ready');
    const shown = name === 'queue-worker-wait' ? String.raw`\{q-read\}:[^\r]*:w:[^\r]*` : name;
    proxy.refuses = new RegExp(`setname\r\n\\$\\d+\r\n${shown}\r\n`, 'i');
    proxy.cut();
    const { text } = await eventually(
      async () => {
        const answer = await readiness(app());
        return !answer.ok && answer.text.includes(says) ? answer : undefined;
      },
      'the app not to be ready',
      20_000,
    );
    expect(text).not.toContain('stopping');
    proxy.refuses = undefined;
    await eventually(async () => (await readiness(app())).ok, 'the app to be ready again');
  });
});
