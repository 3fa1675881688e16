import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApiKey, Call, Diagnostics, GatewayWarning, Problem, Schedule } from '#contracts';
import { createRedis, measureMemory, memoryShare, type RedisConnection } from '#redis';
import { Agent } from '../support/agent.js';
import { startCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';

const MIB = 1_048_576;
const BALLAST = 'x'.repeat(100_000);
const MAXMEMORY = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--maxmemory', '32mb'];

const COUNT_ACTS = `local acts = 0
for _, log in ipairs(redis.call('KEYS', '*log*')) do
  if redis.call('TYPE', log)['ok'] == 'stream' then
    for _, entry in ipairs(redis.call('XRANGE', log, '-', '+')) do
      if string.find(entry[2][2], ' admin.', 1, true) then acts = acts + 1 end
    end
  end
end
return acts`;

describe('a Redis of 32 MiB that fills', () => {
  let cluster: TestCluster;
  let agent: Agent;
  let redis: RedisConnection;

  beforeAll(async () => {
    cluster = await startTestCluster({ redisSettings: MAXMEMORY });
    agent = new Agent(cluster.gateways[0]?.url ?? '');
    redis = createRedis(cluster.redis.url);
  });
  afterEach(() => fillTo(0));
  afterAll(async () => {
    redis.disconnect();
    await cluster.close();
  });

  /** Resolves when the gateway has noticed. */
  const fillTo = async (share: number) => {
    await redis.unlink('ballast');
    while (memoryShare(await measureMemory(redis)) < share) await redis.rpush('ballast', BALLAST);
    const shown = async () => (await gatewayMetric('toolyard_redis_memory_used_bytes')) / (32 * MIB);
    await eventually(async () => Math.abs((await shown()) - memoryShare(await measureMemory(redis))) < 0.01, 'the metric to show it');
    const warned = async () => (await warnings()).length === (share >= 0.8 ? 1 : 0);
    await eventually(warned, 'the gateway to notice it');
  };
  const gatewayMetric = async (name: string) => {
    const text = (await agent.get<string>('/metrics')).body;
    return Number(new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  const warnings = async () => (await agent.get<{ warnings?: GatewayWarning[] }>('/readyz')).body.warnings ?? [];
  const warningOf = (message: RegExp) => ({ code: 'redis_memory', message: expect.stringMatching(message) });
  const submit = <T = Call>(priority: 'high' | 'normal' | 'low') =>
    agent.request<T>('POST', '/v1/calls', { tool: 'echo', arguments: { priority }, priority }, { prefer: 'wait=20' });

  it('accepts all calls below 80 % of the memory of Redis', async () => {
    await fillTo(0.72);
    for (const priority of ['high', 'normal', 'low'] as const) expect((await submit(priority)).body.outcome).toBe('completed');
  });

  it('refuses calls of low priority with 429 from 80 % on, and accepts the others', async () => {
    await fillTo(0.83);
    const refused = await submit<Problem>('low');
    expect([refused.status, refused.body.code, refused.body.type]).toEqual([
      429,
      'too_many_requests',
      'urn:toolyard:problem:too_many_requests',
    ]);
    expect(refused.body.detail).toMatch(/^Redis uses 8\d % of its memory: no new calls of low priority are accepted/);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    for (const priority of ['high', 'normal'] as const) expect((await submit(priority)).body.outcome).toBe('completed');
    expect(await gatewayMetric('toolyard_memory_refusals_total{refused="low"}')).toBe(1);
    const { body } = await agent.get<Diagnostics>('/v1/diagnostics');
    expect(body.warnings).toEqual([warningOf(/^Redis uses 8\d % of its memory: new calls of low priority are refused$/)]);
  });

  it('refuses new calls and batches with 503 from 90 % on; accepted ones run, are decided, cancelled and read', async () => {
    await agent.request('PUT', '/v1/sessions/careful', { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
    const asking = async () => (await agent.submit('shell', { command: 'echo allowed' }, { sessionId: 'careful' })).body;
    const [allowed, denied, unwanted] = [await asking(), await asking(), await asking()];
    expect(allowed.status).toBe('waiting_approval');
    const { body: running } = await agent.submit('shell', { command: 'sleep 600' });
    await eventually(async () => (await agent.get(`/v1/calls/${running.id}`)).body.status === 'running', 'the call to run');

    await fillTo(0.92);
    const refused = await submit<Problem>('high');
    expect([refused.status, refused.body.code, refused.body.type]).toEqual([503, 'overloaded', 'urn:toolyard:problem:overloaded']);
    expect(refused.body.detail).toMatch(/^Redis uses 9\d % of its memory: no new calls are accepted; those accepted go on/);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const batch = await agent.request<Problem>('POST', '/v1/batches', { calls: [{ tool: 'echo', arguments: {} }] });
    expect([batch.status, batch.body.code]).toEqual([503, 'overloaded']);

    const post = (path: string, body: unknown) => agent.request('POST', path, body);
    expect((await post(`/v1/calls/${allowed.id}/decision`, { decision: 'allow', scope: 'once' })).status).toBe(200);
    expect((await post(`/v1/calls/${denied.id}/decision`, { decision: 'deny' })).status).toBe(200);
    for (const { id } of [unwanted, running]) expect((await post(`/v1/calls/${id}/cancel`, {})).status).toBeLessThan(300);
    const ends = await Promise.all([allowed, denied, unwanted, running].map(({ id }) => agent.ended(id)));
    expect(ends.map(({ outcome }) => outcome)).toEqual(['completed', 'denied', 'cancelled', 'cancelled']);

    expect((await fetch(`${agent.url}/readyz`)).status).toBe(200);
    expect(await warnings()).toEqual([warningOf(/^Redis uses 9\d % of its memory: all new calls are refused$/)]);
    const doctor = await startCli(['doctor'], { url: agent.url, env: { TOOLYARD_API_KEY: TEST_KEY } }).ended();
    expect(doctor.out).toMatch(/fail redis memory .*: all new calls are refused/);
    expect(doctor.out).toMatch(/warn gateway memory .*: all new calls are refused/);
    expect(await gatewayMetric('toolyard_memory_refusals_total{refused="all"}')).toBe(2);
  });

  it('refuses administrative acts from 90 % on, except revocations, each once', async () => {
    const send = async (method: 'DELETE' | 'POST' | 'PUT', path: string, body?: unknown) => {
      const answer = await agent.request<Problem>(method, path, body);
      return answer.status < 300 ? answer.status : [answer.status, answer.body.code];
    };
    const key = { name: 'short', scopes: ['read'] };
    const { body: made } = await agent.request<ApiKey>('POST', '/v1/keys', key);
    const posture = (permissionMode: string) => ({ posture: { permissionMode } });
    expect(await send('PUT', '/v1/sessions/open', posture('prompt'))).toBe(200);
    const schedule = { everyMs: 3_600_000, call: { tool: 'echo', arguments: {} } };
    const { body: planned } = await agent.request<Schedule>('POST', '/v1/schedules', schedule);
    const asking = (await agent.submit('shell', { command: 'echo asked' }, { sessionId: 'open' })).body;
    expect(asking.status).toBe('waiting_approval');
    const acts = () => redis.eval(COUNT_ACTS, 0);

    await fillTo(0.92);
    const before = await acts();
    const full = [503, 'overloaded'];
    for (const [method, path, body] of [
      ['POST', '/v1/keys', key],
      ['POST', `/v1/keys/${made.id}/rotate`, {}],
      ['PUT', '/v1/sessions/open', posture('allow')],
      ['PUT', '/v1/sessions/new', posture('read-only')],
      ['DELETE', '/v1/sessions/never-set-up'],
      ['POST', '/v1/schedules', schedule],
      ['POST', `/v1/calls/${asking.id}/decision`, { decision: 'allow', scope: 'session-tool' }],
    ] as const)
      expect([path, await send(method, path, body)]).toEqual([path, full]);
    expect((await agent.get(`/v1/calls/${asking.id}`)).body.status).toBe('waiting_approval');
    expect(await acts()).toBe(before);

    for (const [method, path, body] of [
      ['POST', `/v1/calls/${asking.id}/decision`, { decision: 'deny', scope: 'session-tool' }],
      ['PUT', '/v1/sessions/open', posture('read-only')],
      ['DELETE', '/v1/sessions/open'],
      ['DELETE', `/v1/schedules/${planned.id}`],
      ['DELETE', `/v1/keys/${made.id}`],
    ] as const) {
      expect([path, await send(method, path, body)]).toEqual([path, expect.any(Number)]);
      expect([path, await send(method, path, body)]).toEqual([path, expect.any(Array)]);
    }
    expect(await acts()).toBe(Number(before) + 5);
  });

  it('submits the run of a schedule refused by a full Redis when there is room again', async () => {
    await fillTo(0.83);
    const call = { tool: 'echo', arguments: { text: 'due' }, priority: 'low' };
    const refusals = () => gatewayMetric('toolyard_memory_refusals_total{refused="low"}');
    const before = await refusals();
    const at = new Date(Date.now() + 5_000).toISOString();
    const { body: schedule } = await agent.request<Schedule>('POST', '/v1/schedules', { at, call });
    await eventually(async () => (await refusals()) > before, 'the run to be refused');
    await fillTo(0);
    const ran = async () => (await agent.get<Schedule>(`/v1/schedules/${schedule.id}`)).body.lastRun?.callId;
    expect((await agent.ended(await eventually(ran, 'the run of the schedule'))).outcome).toBe('completed');
  });

  it('writes fewer updates of a running call from 70 % on', async () => {
    await fillTo(0.75);
    // Counts one line a second, and one more for the first and the last; usually each of the ten lines is one. The worker measures for
    // itself.
    await eventually(async () => {
      const call = await agent.run('shell', { command: 'for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.3; done' });
      const times = (await agent.events(call.id)).filter(({ type }) => type === 'call.update').map(({ time }) => Date.parse(time));
      return times.length <= ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000 + 2;
    }, 'the worker to write at most one update a second');
  });

  it('measures the memory of Redis by one command a second per process, for any number of calls', async () => {
    const infos = async () => Number(/cmdstat_info:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
    const [from, before] = [performance.now(), await infos()];
    await Promise.all(Array.from({ length: 200 }, () => submit('normal')));
    const asked = (await infos()) - before;
    const seconds = (performance.now() - from) / 1_000;
    // The gateway, the worker, and this test's own question.
    expect(asked).toBeLessThanOrEqual(2 * (seconds + 1) + 1);
  });
});
