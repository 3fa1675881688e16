import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type AppProcess, type TestCluster } from '../support/test-cluster.js';

describe('an installation that reaches Redis through a proxy', () => {
  let toolyard: TestCluster;
  let proxy: FaultyProxy;
  beforeAll(async () => {
    toolyard = await startTestCluster({ gateways: 0, workers: 0 });
    proxy = await FaultyProxy.start(toolyard.redis.url);
    const env = { REDIS_URL: proxy.url.replace('http:', 'redis:') };
    await Promise.all([toolyard.gateway(env), toolyard.worker({ ...env, WORKER_POOLS: 'read' })]);
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
  const GATEWAY = ['gateway', 'gateway-prompt', 'queue', 'gateway-batches', 'tail', ...SCHEDULES, 'agents-worker', 'agents-worker-wait'];
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

  it('asks for lost workers and for batches once while Redis does not answer, not at every tick', async () => {
    const asked = { lost: 0, batches: 0, looks: 0 };
    const count = (piece: Buffer, command: RegExp) => piece.toString('latin1').match(command)?.length ?? 0;
    proxy.toServer = (piece) => {
      asked.lost += count(piece, /\r\nhkeys\r\n\$\d+\r\n\{p\d+\}:workers\r\n/gi);
      asked.batches += count(piece, /\r\nset\r\n\$\d+\r\nbatch-sweeper\r\n/gi);
      // Which tools can run is asked as often as which workers are lost, and at every tick.
      asked.looks += count(piece, /\r\nzrange\r\n\$\d+\r\nworkers\r\n/gi);
      return piece;
    };
    try {
      await eventually(() => asked.lost > 0 && asked.batches > 0, 'both questions');
      // A question that is under way now is the one that waits; otherwise the next is.
      proxy.hold();
      Object.assign(asked, { lost: 0, batches: 0, looks: 0 });
      await eventually(() => asked.looks >= 3, 'three more ticks');
      expect(asked.lost).toBeLessThanOrEqual(1);
      expect(asked.batches).toBeLessThanOrEqual(1);
    } finally {
      proxy.toServer = (piece) => piece;
      proxy.release();
    }
    await eventually(async () => (await readiness(toolyard.gateways[0])).ok, 'the gateway to be ready');
  });
});
