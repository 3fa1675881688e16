import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedis, type RedisConnection } from '#redis';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type AppProcess, type TestCluster } from '../support/test-cluster.js';

const SCHEDULES = ['schedules', 'schedules-worker', 'schedules-wait'];
const FOREIGN = ['gateway-cancels', 'gateway-polls'];
const AGENTS = ['agents-worker', 'agents-worker-wait'];
const GATEWAY = ['gateway', 'gateway-prompt', 'queue', 'gateway-batches', 'tail', ...SCHEDULES, ...FOREIGN, ...AGENTS];
const WORKER = ['worker', 'queue', 'queue-worker-hand', 'worker-cancels', 'worker-leases'];

describe('an installation that reaches Redis through a proxy', () => {
  let toolyard: TestCluster;
  let redis: RedisConnection;
  const proxies: FaultyProxy[] = [];
  beforeAll(async () => {
    toolyard = await startTestCluster({ gateways: 0, workers: 0 });
    redis = createRedis(toolyard.redis.url);
    for (const start of [toolyard.gateway, toolyard.worker]) {
      const proxy = await FaultyProxy.start(toolyard.redis.url);
      proxies.push(proxy);
      await start({ REDIS_URL: proxy.url.replace('http:', 'redis:'), WORKER_POOLS: 'read' });
    }
  });
  afterAll(async () => {
    redis?.disconnect();
    await toolyard?.close();
    for (const proxy of proxies) await proxy.close();
  });

  const readiness = async (app: AppProcess | undefined) => {
    const answer = await fetch(`${app?.url}/readyz`);
    return { ok: answer.ok, text: await answer.text() };
  };

  /** Names of all connections that Redis has through a proxy. */
  const namesThrough = async (proxy: FaultyProxy | undefined): Promise<string[]> => {
    const clients = String(await redis.client('LIST')).split('\n');
    const own = clients.filter((client) => proxy?.ports.some((port) => client.includes(` addr=127.0.0.1:${port} `)));
    return [...new Set(own.map((client) => / name=(\S*) /.exec(client)?.[1] ?? ''))];
  };

  it.each([
    ['gateway', 0, GATEWAY],
    ['worker', 1, [...WORKER, expect.stringMatching(/^\{q-read\}:.*:w:/)]],
  ])('answers 503 to /readyz of a %s while any one of the connections that Redis lists is away', async (kind, at, expected) => {
    const app = kind === 'gateway' ? toolyard.gateways[0] : toolyard.workers[0];
    const proxy = proxies[at];
    if (proxy === undefined) throw new Error('the proxy is missing');
    // Some connections are opened by the first worker in another language.
    if (kind === 'gateway') {
      const hello = { op: 'hello', protocol: 'toolyard-worker/1', worker: 'w', sdk: 'test/http', tools: [] };
      expect((await toolyard.agent.request('POST', '/v1/workers', hello)).status).toBe(201);
    }
    const names = await eventually(async () => {
      const found = await namesThrough(proxy);
      return found.length >= expected.length && !found.includes('') ? found : undefined;
    }, 'all connections to be open');
    expect(names).toEqual(expect.arrayContaining(expected));
    for (const name of names) {
      await eventually(async () => (await readiness(app)).ok, `the app to be ready before ${name} is away`);
      proxy.refuses = new RegExp(`setname\r\n\\$\\d+\r\n${name.replaceAll(/[{}]/g, String.raw`\$&`)}\r\n`, 'i');
      proxy.cut();
      const says = name === 'worker-leases' ? 'Leases' : name.startsWith('{q-read}') ? 'queue-worker-wait' : name;
      const { text } = await eventually(
        async () => {
          const answer = await readiness(app);
          return !answer.ok && answer.text.includes(says) ? answer : undefined;
        },
        `the app not to be ready without ${name}`,
        20_000,
      );
      expect(text).not.toContain('stopping');
      proxy.refuses = undefined;
    }
    await eventually(async () => (await readiness(app)).ok, 'the app to be ready again');
  });

  it('answers 200 to /readyz of a worker whose connection waits for answers of gateways', async () => {
    const worker = toolyard.workers[0];
    expect((await toolyard.agent.run('cron_list', {}, { sessionId: 'asks' })).outcome).toBe('completed');
    const names = await eventually(async () => {
      const found = await namesThrough(proxies[1]);
      return found.some((name) => /^\{q-agents\}:.*:qe$/.test(name)) ? found : undefined;
    }, 'the connection to read');
    expect(names).toEqual(expect.arrayContaining(['agents', 'agents-wait']));
    expect(await readiness(worker)).toMatchObject({ ok: true });
  });
});
