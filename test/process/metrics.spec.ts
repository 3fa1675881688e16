import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { BullCallQueue } from '#queue';
import { createRedis, type RedisConnection } from '#redis';
import { Agent } from '../support/agent.js';
import { connected } from '../support/connected.js';
import { eventually } from '../support/eventually.js';
import { ScriptedWorker } from '../support/foreign-worker.js';
import { OtlpCollector } from '../support/otlp-collector.js';
import { openTestDatabase, testDatabase } from '../support/postgres.js';
import { alertRules, grafanaDashboards, expressionsOf } from '../support/prometheus.js';
import { readSse } from '../support/sse.js';
import { startTestCluster, TEST_KEY, type AppProcess, type TestCluster } from '../support/test-cluster.js';

/**
 * Metrics of calls that are months old, and of events of an odd shape: they stay at 0 here. Moved in retained-routes of test/faults
 * and in specs of libs/history and libs/archive.
 */
const ONLY_ZERO = [
  'toolyard_archive_retention_failures_total',
  'toolyard_archive_dropped_segments_total',
  'toolyard_archive_dropped_events_total',
  'toolyard_history_retention_dropped_total',
  'toolyard_projection_skipped_events_total',
];

interface Metric {
  readonly type: string;
  readonly values: readonly number[];
}

describe('the metrics of a run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-metrics-'));
  let toolyard: TestCluster;
  let collector: OtlpCollector;
  let agent: Agent;
  let redis: RedisConnection;
  let databaseUrl: string;
  let [worker, paused, projector]: AppProcess[] = [];
  const archive = join(folder, 'archive');

  beforeAll(async () => {
    const config = join(folder, 'toolyard.json');
    const agents = {
      hooked: { hooks: [{ name: 'look', on: 'before', command: 'exit 0' }] },
    };
    writeFileSync(
      config,
      JSON.stringify({
        agents,
        sources: [
          { name: 'ours', kind: 'folder', path: join(folder, 'tools'), trust: true },
          { name: 'machines', kind: 'worker' },
        ],
        limits: { rates: [{ per: 'tool', calls: 1, tools: ['file_write'] }] },
        safety: { anomaly: { enabled: true } },
      }),
    );
    mkdirSync(join(folder, 'tools', 'greet'), { recursive: true });
    const tool = { name: 'greet', description: 'Greets.', input: { type: 'object' }, run: ['/bin/echo', 'hello'] };
    writeFileSync(join(folder, 'tools', 'greet', 'tool.yaml'), JSON.stringify(tool));
    collector = await OtlpCollector.start();
    const env = { TOOLYARD_CONFIG: config, LEASE_MS: '8000', SANDBOX: 'host', ARCHIVE_URL: `file://${archive}` };
    toolyard = await startTestCluster({
      workers: 0,
      env: { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' },
    });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
    redis = createRedis(toolyard.redis.url);
    databaseUrl = await testDatabase();
    const settings = { ...env, DATABASE_URL: databaseUrl, ARCHIVE_SIGNING_KEY_FILE: join(folder, 'key'), HOT_WINDOW_CALLS: '0' };
    [worker, projector] = await Promise.all([toolyard.worker(), toolyard.projector(settings)]);
  });
  afterAll(async () => {
    redis?.disconnect();
    await toolyard?.close();
    await collector?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const scrape = async (app: AppProcess) => (await fetch(`${app.url}/metrics`)).text();
  /** Metrics of all processes together. */
  const metrics = async () => {
    const texts = await Promise.all([...toolyard.gateways, ...toolyard.workers, ...(projector ? [projector] : [])].map(scrape));
    const found = new Map<string, { type: string; values: number[] }>();
    for (const line of texts.join('\n').split('\n')) {
      const [, name = '', type = ''] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
      if (name !== '' && !found.has(name)) found.set(name, { type, values: [] });
      const [, series = '', value = ''] = /^([a-z0-9_]+)(?:\{.*\})? (\S+)$/.exec(line) ?? [];
      const of = found.get(series) ?? found.get(series.replace(/_count$/, ''));
      of?.values.push(Number(value));
    }
    return found as ReadonlyMap<string, Metric>;
  };
  const sumOf = async (name: string) => ((await metrics()).get(name)?.values ?? []).reduce((sum, value) => sum + value, 0);
  const grows = (name: string) => eventually(async () => (await sumOf(name)) > 0, `${name} to grow`);
  const running = (id: string) => eventually(async () => (await agent.get(`/v1/calls/${id}`)).body.status === 'running', 'the call to run');

  const shown = [...grafanaDashboards().flatMap(expressionsOf), ...alertRules().map(({ expr }) => expr)].join('\n');
  const shownOf = (found: ReadonlyMap<string, Metric>) =>
    [...found.keys()].filter((name) => new RegExp(`\\b${name}(_bucket|_sum|_count)?\\b`).test(shown));

  it('exports a sample of every metric of every board and alert before the first call, so that an increase is seen [DX-11]', async () => {
    const fresh = await metrics();
    expect(shownOf(fresh).filter((name) => fresh.get(name)?.values.length === 0)).toEqual([]);
  });

  /** The database refuses a call: in a constraint of the table, in place of a limit of PostgreSQL. */
  const refuseInHistory = async (tool: string) => {
    const db = openTestDatabase(databaseUrl);
    await sql`alter table calls add constraint refused check (tool <> ${sql.lit(tool)})`.execute(db);
    await db.destroy();
  };
  /** Redis has hardly room left: calls of low priority are refused, and what was archived leaves it. */
  const fillRedis = async () => {
    const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
    await redis.config('SET', 'maxmemory', Math.round(used * 1.15));
    const refused = async () => (await agent.submit('echo', {}, { priority: 'low' })).status === 429;
    await eventually(refused, 'a call of low priority to be refused');
  };
  /** Redis refuses the keys of queues, so that no job can be added. */
  const withoutQueues = async (run: () => Promise<unknown>) => {
    await redis.call('ACL', 'SETUSER', 'default', 'resetkeys', '~[^{]*', '~{[^q]*');
    await run().finally(() => redis.call('ACL', 'SETUSER', 'default', 'allkeys'));
  };

  // Limit of five minutes: all alerts and boards get a sample, some of them at the end of a lease.
  it('exports a sample of every metric of every board and alert that the product moved by itself [DX-11]', async () => {
    // Ends of all kinds, spans, hooks, limits, alerts.
    for (let n = 0; n < 5; n++) await agent.run('echo', { n }, { agentId: 'hooked' });
    await eventually(async () => (await agent.run('greet', {})).outcome === 'completed', 'a tool of a source');
    await refuseInHistory('sleep');
    await agent.request('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' });
    await agent.run('file_read', { path: 'not/there' });
    await agent.run('shell', { command: 'head -c 300000 /dev/zero | tr "\\0" x; echo "audit: seccomp denied syscall=ptrace"' });
    const cancelled = await agent.submit('shell', { command: 'sleep 600' });
    await running(cancelled.body.id);
    await agent.request('POST', `/v1/calls/${cancelled.body.id}/cancel`, { graceMs: 20_000 });
    await agent.ended(cancelled.body.id);
    await agent.run('sleep', { duration_ms: 1_500 });
    for (let n = 0; n < 2; n++) await agent.submit('file_write', { path: 'a', content: 'x' });
    const firstRun = await scrape(worker!);
    // Streams, with more updates than are sent one by one.
    const stream = await agent.stream();
    stream.send({
      op: 'submit',
      id: 'many',
      call: { tool: 'shell', arguments: { command: 'for i in $(seq 50); do echo $i; sleep 0.02; done' } },
    });
    const { call } = await stream.frame('accepted', 'many');
    await readSse(`${agent.url}/v1/calls/${call.id}/events`);
    stream.close();
    // A schedule whose due time has come.
    const at = new Date(Date.now() + 1_000).toISOString();
    await agent.request('POST', '/v1/schedules', { at, call: { tool: 'echo', arguments: {} } });
    await grows('toolyard_schedule_delay_seconds');
    // A call that waits for a person.
    await agent.request('PUT', '/v1/sessions/careful', { posture: { permissionMode: 'prompt' } });
    await agent.submit('shell', { command: 'date' }, { sessionId: 'careful' });
    // A call whose job cannot be added at once.
    await withoutQueues(async () => {
      await agent.submit('echo', { later: true });
      await grows('toolyard_dispatch_failures_total');
    });
    // An archive that is away, and comes back.
    renameSync(archive, `${archive}-away`);
    writeFileSync(archive, 'no folder');
    await fillRedis();
    await grows('toolyard_archive_failures_total');
    rmSync(archive);
    renameSync(`${archive}-away`, archive);
    await grows('toolyard_archive_trimmed_calls_total');
    await redis.config('SET', 'maxmemory', 0);
    // A job of a call that has ended.
    const queue = await connected(new BullCallQueue({ redisUrl: toolyard.redis.url }));
    await queue.dispatch('read', { callId: call.id, attempt: 1 }, 'normal');
    await grows('toolyard_dispatch_duplicates_total');
    await queue.close();
    // A worker that is paused for longer than its lease; meanwhile a call that no worker takes.
    const first = await metrics();
    worker?.signal('SIGTERM');
    await worker?.ended();
    toolyard.workers.splice(0);
    paused = await toolyard.worker({ WORKER_POOLS: 'shell' });
    const lost = await agent.submit('shell', { command: 'sleep 600' });
    await running(lost.body.id);
    const before = await metrics();
    paused.signal('SIGSTOP');
    toolyard.workers.splice(0);
    await toolyard.worker({ WORKER_POOLS: 'net' });
    expect(await agent.ended(lost.body.id)).toMatchObject({ outcome: 'unknown' });
    await agent.submit('echo', { waits: true });
    await grows('toolyard_dispatch_repeats_total');
    const after = await metrics();
    toolyard.workers.push(paused);
    paused.signal('SIGCONT');
    await grows('toolyard_leases_lost_total');
    toolyard.redis.signal('SIGSTOP');
    await grows('toolyard_probe_failures_total').finally(() => toolyard.redis.signal('SIGCONT'));
    await eventually(async () => (await fetch(`${agent.url}/readyz`)).ok, 'the gateway to have its Redis again');

    for (const series of [
      'toolyard_calls_ended_total{tool="echo",outcome="completed",code="none"} 5',
      'toolyard_source_calls_total{source="ours",result="ok"} 1',
      'toolyard_calls_ended_total{tool="shell",outcome="cancelled",code="cancelled"} 1',
      'toolyard_call_run_seconds_count{tool="echo"} 5',
      'toolyard_call_cancel_seconds_count{how="stopped"} 1',
      'toolyard_outputs_truncated_total{tool="shell"} 1',
      'toolyard_calls_retried_total{tool="sleep",reason="suspended"} 1',
    ])
      expect(firstRun).toContain(series);
    expect(firstRun).toMatch(/^toolyard_calls_ended_total\{tool="file_read",outcome="failed",code="\w+"\} 1$/m);
    expect(firstRun).toMatch(/^toolyard_call_queue_wait_seconds_count\{pool="read"\} [1-9]/m);

    const seen = [first, before, after, await metrics()];
    const names = shownOf(seen[0]!);
    expect(names.length).toBeGreaterThan(30);
    const unknown = [...shown.matchAll(/\btoolyard_[a-z0-9_]+/g)]
      .map(([name]) => name)
      .filter((name) => !names.includes(name.replace(/_(bucket|sum|count)$/, '')) && !names.includes(name));
    expect(unknown).toEqual([]);
    const idle = names.filter((name) => {
      const values = seen.flatMap((at) => at.get(name)?.values ?? []);
      const moves = seen[0]?.get(name)?.type !== 'gauge' && !ONLY_ZERO.includes(name);
      return moves ? !values.some((value) => value > 0) : values.length === 0;
    });
    expect(idle).toEqual([]);
  }, 300_000);

  it('counts the calls that wait for a person, until one is decided or cancelled', async () => {
    const sessionId = 'metrics-approvals';
    await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { permissionMode: 'prompt' } });
    const [gateway] = toolyard.gateways;
    if (gateway === undefined) throw new Error('no gateway');
    const waiting = async () => Number(/^toolyard_approvals_waiting_calls (\d+)/m.exec(await scrape(gateway))?.[1]);
    const before = await waiting();
    const submit = async () => (await agent.submit('shell', { command: 'touch a' }, { sessionId })).body.id;
    const [denied, cancelled] = [await submit(), await submit()];
    expect(await waiting()).toBe(before + 2);
    await agent.request('POST', `/v1/calls/${denied}/decision`, { decision: 'deny' });
    expect(await waiting()).toBe(before + 1);
    await agent.request('POST', `/v1/calls/${cancelled}/cancel`, {});
    expect(await waiting()).toBe(before);
  });

  it('names no tool in the metrics that a caller made up', async () => {
    const unknown = /^toolyard_calls_ended_total\{tool="other",outcome="failed",code="not_found"\} (\d+)$/m;
    // Tools of a source that was not read yet were unknown, too.
    const before = Number(unknown.exec(await scrape(toolyard.gateways[0]!))?.[1] ?? 0);
    for (let n = 0; n < 20; n++) await agent.submit(`made_up_${n}`, {});
    const text = await scrape(toolyard.gateways[0]!);
    expect(text).not.toContain('made_up_');
    expect(Number(unknown.exec(text)?.[1])).toBe(before + 20);
  });

  it('counts each call once by its risk, also one that is denied and one that is submitted again', async () => {
    const byRisk = async () => {
      const text = await scrape(toolyard.gateways[0]!);
      return Object.fromEntries(
        [...text.matchAll(/^toolyard_calls_by_risk_total\{risk="(\w+)"\} (\d+)$/gm)].map(([, risk, count]) => [risk, Number(count)]),
      );
    };
    const before = await byRisk();
    expect(Object.keys(before).sort()).toEqual(['high', 'low', 'medium']);
    const { low = 0, medium = 0, high = 0 } = before;
    const shell = async (command: string, sessionId: string) =>
      (await agent.submit('shell', { command }, { sessionId }, { 'idempotency-key': command.replaceAll(/\W+/g, '-') })).body;
    await agent.request('PUT', '/v1/sessions/reads', { posture: { autonomy: 'read_only' } });
    await agent.request('PUT', '/v1/sessions/careful', { posture: { permissionMode: 'prompt' } });
    expect(await shell('ls; rm -rf build', 'careful')).toMatchObject({ status: 'waiting_approval', risk: 'high' });
    expect(await byRisk()).toEqual({ low, medium, high: high + 1 });
    await shell('ls; rm -rf build', 'careful');
    expect(await byRisk()).toEqual({ low, medium, high: high + 1 });
    expect(await agent.request('POST', '/v1/calls:quote', { tool: 'shell', arguments: { command: 'ls; rm -rf x' } })).toMatchObject({
      body: { risk: 'high' },
    });
    expect(await shell('ls; rm -rf dist', 'reads')).toMatchObject({ code: 'policy_denied' });
    expect(await byRisk()).toEqual({ low, medium, high: high + 2 });
    expect((await agent.submit('echo', {})).body.risk).toBe('low');
    expect((await shell('git push', 'careful')).risk).toBe('medium');
    expect(await byRisk()).toEqual({ low: low + 1, medium: medium + 1, high: high + 2 });
  });

  it('counts due times of schedules by result', async () => {
    const runs = async (result: string) => {
      const text = await scrape(toolyard.gateways[0]!);
      return Number(new RegExp(`^toolyard_schedule_runs_total\\{result="${result}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
    };
    const grown = async (result: string, before: number) =>
      eventually(async () => (await runs(result)) > before, `due times that are ${result} to be counted`);
    const before = { submitted: await runs('submitted'), refused: await runs('refused'), overlap: await runs('overlap') };
    await agent.request('PUT', '/v1/sessions/closed', { grants: { deniedTools: ['echo'] } });
    const made = async (body: object) => (await agent.request<{ id: string }>('POST', '/v1/schedules', body)).body.id;
    const ids = [
      await made({ everyMs: 1_000, call: { tool: 'echo', arguments: {}, sessionId: 'closed' } }),
      await made({ everyMs: 1_000, call: { tool: 'file_read', arguments: { path: 'never-run' } } }),
    ];
    await grown('refused', before.refused);
    await grown('submitted', before.submitted);
    await grown('overlap', before.overlap);
    for (const id of ids) await agent.request('DELETE', `/v1/schedules/${id}`);
  });

  it('counts foreign workers and their calls by source, with unconfigured sources together', async () => {
    const tool = (name: string) => ({ name, description: 'Ends when the test ends it.', input: { type: 'object' } });
    const [named, other] = await Promise.all(
      ['machines', 'unnamed'].map((source) => ScriptedWorker.ready(agent.url, TEST_KEY, source, [tool(`run-${source}`)])),
    );
    const values = async (metric: string) => {
      const text = await scrape(toolyard.gateways[0]!);
      return Object.fromEntries(
        [...text.matchAll(new RegExp(`^toolyard_foreign_${metric}\\{source="(\\w+)"\\} (\\d+)$`, 'gm'))].map(([, source, n]) => [
          source,
          Number(n),
        ]),
      );
    };
    expect(await values('workers')).toEqual({ machines: 1, other: 1 });
    const { body } = await agent.submit('run-machines', {});
    const call = await named!.next('call');
    expect(await values('worker_calls')).toEqual({ machines: 1, other: 0 });
    named!.send({ op: 'finish', callId: call.callId, fence: call.fence, wseq: 1, outcome: 'completed', content: [] });
    await agent.ended(body.id);
    expect(await scrape(toolyard.gateways[0]!)).toContain('toolyard_source_calls_total{source="machines",result="ok"} 1');
    for (const worker of [named, other]) worker!.close();
    await eventually(async () => Object.values(await values('workers')).every((n) => n === 0), 'the workers to be gone');
  });
});
