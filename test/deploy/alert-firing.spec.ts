import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { Prometheus } from '../support/prometheus.js';
import { queueKey } from '../support/queue-key.js';
import { freePort } from '../support/free-port.mjs';
import { startTestCluster, type AppProcess, type TestCluster } from '../support/test-cluster.js';

/** Alerts of deliberate faults. Together with monitored-run.spec.ts every alert fires once for its purpose. */
describe('trouble made on purpose, seen by a real Prometheus', () => {
  /** Real thresholds of these are 10 s to 15 min of waiting; what is measured and how is the same. */
  const SOONER = { ToolyardQueueOld: 1, ToolyardReconcilerOverdue: 1, ToolyardProjectionLag: 1, ToolyardApprovalsWait: 1 };
  const SLOTS = 2;
  let toolyard: TestCluster;
  let prometheus: Prometheus;
  let redis: Redis;
  let agent: Agent;
  let worker: AppProcess;
  let projector: AppProcess;
  let port = '';

  beforeAll(async () => {
    port = String(await freePort());
    toolyard = await startTestCluster({
      gateways: 0,
      workers: 0,
      env: { APPROVAL_MS: '3000', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_BSP_SCHEDULE_DELAY: '50' },
    });
    const gateway = await toolyard.gateway({ GATEWAY_PORT: port });
    projector = await toolyard.projector();
    worker = await toolyard.worker({ WORKER_CONCURRENCY: `shell=${SLOTS}` });
    agent = new Agent(gateway.url);
    redis = new Redis(toolyard.redis.url);
    const targets = { 'toolyard-gateway': [gateway.url], 'toolyard-projector': [projector.url], 'toolyard-worker': [worker.url] };
    prometheus = await Prometheus.start(targets, SOONER);
    const areUp = Object.keys(targets).map((job) => `${job} up`);
    await eventually(async () => (await prometheus.targets()).toSorted().join() === areUp.join(), 'targets');
  });
  afterAll(async () => {
    redis?.disconnect();
    await prometheus?.close();
    await toolyard?.close();
  });

  const fires = (alert: string) => eventually(async () => (await prometheus.firing()).get(alert), `${alert} to fire`);
  const passed = (ms: number, what: string) => {
    const until = performance.now() + ms;
    return eventually(() => performance.now() > until, what);
  };
  const value = async (expr: string) => (await prometheus.query(expr))[0]?.value ?? 0;

  it('alerts about an approval without a decision, and its expiry', async () => {
    await agent.request('PUT', '/v1/sessions/careful', { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
    const ask = () => agent.accepted('shell', { command: 'touch x' }, { sessionId: 'careful' });
    let { id } = await ask();
    // Repeats a call that expired before it was seen to wait.
    const fired = async () => {
      const found = (await prometheus.firing()).get('ToolyardApprovalsWait');
      if (found === undefined && (await agent.get(`/v1/calls/${id}`)).body.status === 'ended') ({ id } = await ask());
      return found;
    };
    await eventually(fired, 'ToolyardApprovalsWait to fire');
    expect(await agent.ended(id)).toMatchObject({ error: { code: 'approval_expired' } });
    expect(await fires('ToolyardApprovalsExpire')).toBe('Approvals expired without a decision for calls of shell');
  });

  it('alerts that a tool fails more often than not', async () => {
    const fail = () => agent.run('shell', { command: 'sleep 20' }, { timeouts: { runMs: 100 } });
    expect(await fail()).toMatchObject({ outcome: 'timed_out' });
    await eventually(async () => (await value('sum(toolyard_calls_ended_total{outcome="timed_out"})')) > 0, 'the first failure');
    await Promise.all(Array.from({ length: 24 }, fail));
    expect(await fires('ToolyardCallsFail')).toMatch(/% of the calls of shell fail$/);
  });

  it('alerts when all slots of a pool are taken', async () => {
    const calls = await Promise.all(Array.from({ length: SLOTS }, () => agent.submit('shell', { command: 'sleep 60' })));
    expect(await fires('ToolyardSlotsFull')).toBe('100% of the slots of the pool shell are taken');
    for (const { body } of calls) await agent.request('POST', `/v1/calls/${body.id}/cancel`, {});
    for (const { body } of calls) await agent.ended(body.id);
  });

  it('alerts that Redis is nearly full', async () => {
    // Memory use of Redis varies by a few percent at such a small size.
    const fill = async () => {
      const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
      await redis.config('SET', 'maxmemory', Math.round(used * 1.15));
    };
    const firedBy = (alert: string) => async () => {
      await fill();
      await agent.submit('echo', {}, { priority: 'low' });
      return (await prometheus.firing()).get(alert);
    };
    await eventually(firedBy('ToolyardRedisMemory'), 'ToolyardRedisMemory to fire');
    const refused = await eventually(firedBy('ToolyardMemoryRefusals'), 'ToolyardMemoryRefusals to fire');
    expect(refused).toMatch(/^New calls are refused because Redis is nearly full: (low|all)$/);
    await redis.config('SET', 'maxmemory', 0);
  });

  it('alerts that jobs cannot be added', async () => {
    const queue = ['wait', 'prioritized'].map((name) => queueKey('write', name));
    for (const key of queue) await redis.set(key, 'no list and no set');
    const submit = async () => {
      const answer = await agent.submit('file_write', { path: 'a.txt', content: 'a' });
      return answer.status === 202 ? answer.body : undefined;
    };
    // Gateways look at the memory of Redis from time to time: it was nearly full a moment ago.
    const first = await eventually(submit, 'a call to be accepted');
    const born = async () => (await value('sum(toolyard_dispatch_failures_total{pool="write"})')) > 0;
    await eventually(born, 'the first failure to be scraped');
    const second = await eventually(submit, 'a second call to be accepted');
    expect(await fires('ToolyardDispatchFails')).toBe('Jobs for the pool write could not be added at once');
    await redis.del(queue);
    for (const { id } of [first, second]) await agent.request('POST', `/v1/calls/${id}/cancel`, {});
  });

  it('alerts when the log refuses requests', async () => {
    // Twenty people decide at the same moment: the log takes one of them.
    const decideAtOnce = async () => {
      const { body } = await agent.submit('shell', { command: 'touch x' }, { sessionId: 'careful' });
      const decide = () => agent.request('POST', `/v1/calls/${body.id}/decision`, { decision: 'deny' });
      await Promise.all(Array.from({ length: 20 }, decide));
    };
    const hasFired = async () => {
      await decideAtOnce();
      return (await prometheus.firing()).get('ToolyardTransitionsRefused');
    };
    expect(await eventually(hasFired, 'the alert about refusals')).toContain('The log refuses');
  });

  it('alerts about a repeatedly blocked event loop', async () => {
    // Holds one turn in a hundred, which makes the 99th percentile, however long Prometheus takes to answer in between.
    const hold = async () => {
      for (let times = 0; times < 5; times++) {
        worker.signal('SIGSTOP');
        await passed(300, 'the worker to be held up');
        worker.signal('SIGCONT');
        await passed(50, 'the worker to go on');
      }
      return (await prometheus.firing()).get('ToolyardEventLoopDelay');
    };
    expect(await eventually(hold, 'ToolyardEventLoopDelay to fire')).toContain('is held up for');
  });

  it('alerts about a blocked process, and its delayed work: timers, queues, lists, deliveries', async () => {
    const { body: suspended } = await agent.submit('sleep', { duration_ms: 500 });
    const isWaiting = async () => (await agent.events(suspended.id)).some(({ type }) => type === 'call.retry');
    await eventually(isWaiting, 'the call to be suspended');
    for (const app of [worker, projector]) app.signal('SIGSTOP');
    // The first may be handed to the worker, which was idle; the other one has to wait.
    for (const n of [4, 5]) await agent.submit('echo', { n });
    await fires('ToolyardReconcilerOverdue');
    await fires('ToolyardQueueOld');
    for (const app of [worker, projector]) app.signal('SIGCONT');
    expect(await agent.ended(suspended.id)).toMatchObject({ outcome: 'completed' });
    expect(await fires('ToolyardProjectionLag')).toContain('behind the log');

    const { id } = await agent.accepted('shell', { command: 'while sleep 0.2; do date; done' });
    const writes = async () => (await agent.events(id)).some(({ type }) => type === 'call.update');
    await eventually(writes, 'the first output');
    const gateway = toolyard.gateways[0];
    // Delays one event in a hundred, which makes the 99th percentile, however many came before.
    const away = async () => {
      gateway?.signal('SIGSTOP');
      await passed(2500, 'a gateway that was away for 2.5 s');
      gateway?.signal('SIGCONT');
      await eventually(async () => (await fetch(`${gateway?.url}/livez`)).ok, 'the gateway to answer');
      return (await prometheus.firing()).get('ToolyardTailLag');
    };
    expect(await eventually(away, 'ToolyardTailLag to fire')).toContain('late');
    await agent.request('POST', `/v1/calls/${id}/cancel`, {});
  });

  it('alerts that spans do not reach the collector', async () => {
    await agent.run('echo', { n: 5 });
    expect(await fires('ToolyardSpansLost')).toContain('do not reach the collector');
  });

  it('alerts about a process that starts again and again', async () => {
    for (let starts = 1; starts <= 4; starts += 1) {
      const before = toolyard.gateways.at(-1);
      before?.signal('SIGKILL');
      await before?.ended();
      await toolyard.gateway({ GATEWAY_PORT: port });
      const seen = async () => (await value('changes(toolyard_process_start_time_seconds{job="toolyard-gateway"}[15m])')) >= starts;
      await eventually(seen, `start ${starts} to be scraped`);
    }
    expect(await fires('ToolyardRestarts')).toContain('started 4 times');
  });
});
