import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SourcePage } from '#contracts';
import { Agent } from '../support/agent.js';
import { programOf } from '../support/app-program.js';
import { eventually } from '../support/eventually.js';
import { OtlpCollector, type CollectedSpan } from '../support/otlp-collector.js';
import { startModelServer, type ModelServer } from '../support/model-server.js';
import { serveWeb } from '../support/serve-web.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** Span of an agent, sent with a call; no process of the test exports it. */
function agentSpan(sampled = true) {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${sampled ? '01' : '00'}` };
}

const named = (spans: readonly CollectedSpan[], name: string) => spans.filter((span) => span.name === name);
const parentOf = (spans: readonly CollectedSpan[], span: CollectedSpan | undefined) =>
  spans.find(({ spanId }) => spanId === span?.parentSpanId)?.name;

describe('traces', () => {
  let collector: OtlpCollector;
  let site: { url: string; host: string; seen: IncomingHttpHeaders[]; close(): void };
  let services: Awaited<ReturnType<typeof startServices>>;
  let models: ModelServer;
  let folder = '';
  let toolyard: TestCluster;
  let agent: Agent;

  beforeAll(async () => {
    collector = await OtlpCollector.start();
    site = await startSite();
    folder = mkdtempSync(join(tmpdir(), 'toolyard-traces-'));
    const config = join(folder, 'config.yaml');
    const hooks = ['before', 'after'].map((on) => ({ name: `look-${on}`, on, command: 'true' }));
    services = await startServices();
    models = await startModelServer();
    const model = { provider: 'openai-compatible', name: 'helper', url: models.url };
    const sources = [
      { kind: 'mcp', name: 'by-mcp', url: `${services.url}/mcp`, trust: true },
      { kind: 'openapi', name: 'by-openapi', document: `${services.url}/openapi.json`, trust: true },
      { kind: 'agent', name: 'helper', tier: 'read_only', model, tools: ['echo'] },
    ];
    const settings = {
      policy: { egress: { privateHosts: ['127.0.0.1', 'localhost'] } },
      agents: { checked: { hooks, limits: { actionsPerHour: 100 } } },
      sources,
    };
    writeFileSync(config, JSON.stringify(settings));
    toolyard = await startTestCluster({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_BSP_SCHEDULE_DELAY: '50',
        EGRESS_ALLOW_HOSTS: `${site.host},localhost`,
        TRACE_HOSTS: `${site.host},${new URL(services.url).host}`,
        TOOLYARD_CONFIG: config,
        LEASE_MS: '8000',
      },
    });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const areRead = async () => (await agent.get<SourcePage>('/v1/sources')).body.sources.every(({ status }) => status === 'ok');
    await eventually(areRead, 'the sources to be read');
  });
  afterAll(async () => {
    await toolyard?.close();
    await collector?.close();
    await models?.close();
    services?.close();
    site?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const submit = (tool: string, args: unknown, traceparent: string, more: Record<string, unknown> = {}) =>
    agent.submit(tool, args, more, { traceparent, prefer: 'wait=60' });

  it('traces one call as one connected trace, from the agent over gateway and queue to the tool [DX-11]', async () => {
    const { traceId, spanId, traceparent } = agentSpan();
    const { body } = await submit('shell', { command: 'echo "$TRACEPARENT"' }, traceparent, { toolCallId: 'toolu_1', sessionId: 'traced' });
    expect(body.outcome).toBe('completed');
    const names = ['POST /v1/calls', 'submit_call shell', 'evaluate', 'accept', 'queue shell', 'execute_tool shell'];
    const attemptStages = ['run', 'load_inputs', 'call_tool', 'commit'];
    const spans = await collector.whole(traceId, [...names, ...attemptStages], spanId);

    expect(spans.map(({ name }) => name).sort()).toEqual([...names, ...attemptStages].sort());
    expect(named(spans, 'POST /v1/calls')[0]).toMatchObject({ parentSpanId: spanId, kind: 'server', service: 'toolyard-gateway' });
    expect(named(spans, 'submit_call shell')[0]).toMatchObject({ kind: 'producer', failed: false });
    for (const name of ['evaluate', 'accept', 'queue shell', 'execute_tool shell'])
      expect(parentOf(spans, named(spans, name)[0])).toBe('submit_call shell');
    for (const name of attemptStages) expect(parentOf(spans, named(spans, name)[0])).toBe('execute_tool shell');
    const [execute] = named(spans, 'execute_tool shell');
    expect(execute).toMatchObject({
      service: 'toolyard-worker',
      kind: 'internal',
      failed: false,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'shell',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.description': expect.stringContaining('Runs a command'),
        'gen_ai.tool.call.id': 'toolu_1',
        'gen_ai.conversation.id': 'traced',
        'toolyard.call.id': body.id,
        'toolyard.attempt': 1,
        'toolyard.outcome': 'completed',
      },
    });
    // Checks the process of each span, and the conventions of its attributes.
    const instances = new Map(spans.map(({ service, instance }) => [service, instance]));
    const { body: workers } = await agent.get<{ workers: { id: string }[] }>('/v1/workers');
    expect(workers.workers.map(({ id }) => id)).toContain(instances.get('toolyard-worker'));
    expect(instances.get('toolyard-gateway')).toMatch(/^\S+$/);
    expect(instances.get('toolyard-gateway')).not.toBe('undefined');
    expect(new Set(spans.map(({ schemaUrl }) => schemaUrl))).toEqual(new Set(['https://opentelemetry.io/schemas/1.37.0']));
    // Programs started by the command continue its span.
    expect(JSON.stringify(body.result)).toContain(`00-${traceId}-${execute?.spanId}-01`);
    const [queue] = named(spans, 'queue shell');
    expect(queue?.endMs).toBeLessThanOrEqual((execute?.startMs ?? 0) + 1);
    // The events say it too.
    const [event] = await agent.events(body.id);
    expect(event?.traceparent).toBe(`00-${traceId}-${named(spans, 'submit_call shell')[0]?.spanId}-01`);
  });

  it('traces each stage of a call in its order: policy, hooks and limits, a person, the tool, the hooks after it [RP-22, RP-23]', async () => {
    const { traceId, spanId, traceparent } = agentSpan();
    await agent.request('PUT', '/v1/sessions/staged', { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
    const more = { agentId: 'checked', sessionId: 'staged', dialect: 'zeroclaw' };
    const { body } = await agent.submit('shell', { command: 'touch z' }, more, { traceparent });
    await agent.request('POST', `/v1/calls/${body.id}/decision`, { decision: 'allow' });
    const stages = ['evaluate', 'hooks', 'limits', 'accept'];
    const later = ['approve', 'execute_tool shell', 'call_tool', 'after_hooks', 'commit'];
    const spans = await collector.whole(traceId, [...stages, 'submit_call shell', ...later], spanId);
    for (const stage of stages) expect([stage, parentOf(spans, named(spans, stage)[0])]).toEqual([stage, 'submit_call shell']);
    const inOrder = [...stages, ...later].map((stage) => named(spans, stage)[0]?.startMs ?? 0);
    expect(inOrder).toEqual([...inOrder].sort((a, b) => a - b));
    expect(named(spans, 'evaluate')[0]).toMatchObject({ attributes: { 'toolyard.decision.effect': 'ask' } });
  });

  it('traces each attempt of a call that is retried, and how long each waited; named hosts get the trace', async () => {
    const { traceId, spanId, traceparent } = agentSpan();
    const { body } = await submit('web_fetch', { url: `${site.url}/flaky` }, traceparent, { retry: { maxAttempts: 2, backoffMs: 50 } });
    expect([body.outcome, body.attempt]).toEqual(['completed', 2]);
    const spans = await collector.whole(traceId, ['execute_tool web_fetch', 'execute_tool web_fetch', 'queue net', 'queue net'], spanId);
    const [first, second] = named(spans, 'execute_tool web_fetch').sort((a, b) => a.startMs - b.startMs);
    expect(first).toMatchObject({ failed: true, attributes: { 'error.type': 'tool_failed', 'toolyard.retry.reason': 'tool_failed' } });
    expect(second).toMatchObject({ failed: false, attributes: { 'toolyard.attempt': 2, 'toolyard.outcome': 'completed' } });
    const waits = named(spans, 'queue net').sort((a, b) => a.startMs - b.startMs);
    // The second wait begins when the first attempt was over, not at the submission.
    expect(waits[1]?.startMs).toBeGreaterThanOrEqual(first?.startMs ?? 0);
    expect(site.seen.map((headers) => headers['traceparent'])).toEqual([
      `00-${traceId}-${first?.spanId}-01`,
      `00-${traceId}-${second?.spanId}-01`,
    ]);
  });

  it('sends the trace of a request to no other host', async () => {
    const { traceId, spanId, traceparent } = agentSpan();
    const before = site.seen.length;
    await submit('web_fetch', { url: `${site.url.replace('127.0.0.1', 'localhost')}/ok` }, traceparent);
    await collector.whole(traceId, ['execute_tool web_fetch'], spanId);
    expect(site.seen.slice(before).map((headers) => headers['traceparent'])).toEqual([undefined]);
  });

  it('continues the trace of a call in the MCP server and in the named API that its tool is of', async () => {
    for (const tool of ['mcp_work', 'openapi_work']) {
      const { traceId, spanId, traceparent } = agentSpan();
      const { body } = await submit(tool, {}, traceparent);
      expect(body.outcome).toBe('completed');
      const spans = await collector.whole(traceId, ['submit_call ' + tool, `execute_tool ${tool}`, 'call_tool'], spanId);
      const [execute] = named(spans, `execute_tool ${tool}`);
      expect(execute).toMatchObject({ failed: false, attributes: { 'gen_ai.tool.name': tool, 'toolyard.outcome': 'completed' } });
      expect([tool, services.traceOf(tool)]).toEqual([tool, `00-${traceId}-${execute?.spanId}-01`]);
    }
  });

  it('traces the calls of all turns of a sub-agent below the call of the sub-agent', async () => {
    const echo = (text: string) => ({ toolCalls: [{ id: text, name: 'echo', arguments: { text } }] });
    models.on('helper', [echo('one'), echo('two'), { text: 'done' }]);
    const { traceId, spanId, traceparent } = agentSpan();
    const { body } = await submit('helper', { task: 'Say it twice' }, traceparent);
    expect((await agent.ended(body.id)).result?.childCallIds).toHaveLength(2);
    const twice = (name: string) => [name, name];
    const spans = await collector.whole(
      traceId,
      ['submit_call helper', 'execute_tool helper', ...twice('submit_call echo'), ...twice('execute_tool echo')],
      spanId,
    );
    for (const span of [...named(spans, 'execute_tool helper'), ...named(spans, 'submit_call echo')])
      expect(parentOf(spans, span)).toBe('submit_call helper');
    for (const span of named(spans, 'submit_call echo'))
      expect([span.kind, span.attributes['network.protocol.name']]).toEqual(['producer', undefined]);
    for (const span of named(spans, 'execute_tool echo')) expect(parentOf(spans, span)).toBe('submit_call echo');
  });

  it('marks failed, refused and cancelled calls by their code', async () => {
    const [failed, refused, running, queued] = [agentSpan(), agentSpan(), agentSpan(), agentSpan()];
    await submit('file_read', { path: 'not/there' }, failed.traceparent);
    const ofFailed = await collector.whole(failed.traceId, ['execute_tool file_read'], failed.spanId);
    expect(named(ofFailed, 'execute_tool file_read')[0]).toMatchObject({ failed: true, attributes: { 'error.type': 'tool_failed' } });

    await submit('shell', { command: 7 }, refused.traceparent);
    const ofRefused = await collector.whole(refused.traceId, ['submit_call shell', 'POST /v1/calls'], refused.spanId);
    expect(named(ofRefused, 'submit_call shell')[0]).toMatchObject({ failed: true, attributes: { 'error.type': 'invalid_arguments' } });
    expect(named(ofRefused, 'POST /v1/calls')[0]).toMatchObject({ failed: false, attributes: { 'http.response.status_code': 422 } });

    const { body } = await agent.submit('shell', { command: 'sleep 60' }, {}, { traceparent: running.traceparent });
    await eventually(async () => (await agent.get(`/v1/calls/${body.id}`)).body.status === 'running', 'the call to run');
    await agent.request('POST', `/v1/calls/${body.id}/cancel`, {});
    const ofRunning = await collector.whole(running.traceId, ['cancel', 'execute_tool shell'], running.spanId);
    expect(named(ofRunning, 'execute_tool shell')[0]).toMatchObject({
      failed: true,
      attributes: {
        'error.type': 'cancelled',
        'toolyard.outcome': 'cancelled',
        'toolyard.stopped.how': expect.stringMatching(/stopped|killed/),
      },
    });

    // No worker serves the pool `agent` long enough to matter: the call is cancelled while an approval holds it.
    const supervised = { posture: { autonomy: 'supervised', permissionMode: 'prompt' } };
    await agent.request('PUT', '/v1/sessions/careful', supervised);
    const asked = await agent.submit('shell', { command: 'touch x' }, { sessionId: 'careful' }, { traceparent: queued.traceparent });
    expect(asked.body.status).toBe('waiting_approval');
    await agent.request('POST', `/v1/calls/${asked.body.id}/cancel`, {});
    const ofAsked = await collector.whole(queued.traceId, ['cancel', 'approve'], queued.spanId);
    expect(named(ofAsked, 'approve')[0]).toMatchObject({ failed: true, attributes: { 'error.type': 'cancelled' } });
  });

  it('shows how long a call waited for a person, and only then for a worker', async () => {
    const { traceId, spanId, traceparent } = agentSpan();
    await agent.request('PUT', '/v1/sessions/asked', { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
    const { body } = await agent.submit('shell', { command: 'touch y' }, { sessionId: 'asked' }, { traceparent });
    expect(body.status).toBe('waiting_approval');
    await agent.request('POST', `/v1/calls/${body.id}/decision`, { decision: 'allow' });
    const spans = await collector.whole(traceId, ['approve', 'queue shell', 'execute_tool shell'], spanId);
    const [approve, queue] = [named(spans, 'approve')[0], named(spans, 'queue shell')[0]];
    expect(approve).toMatchObject({ failed: false, attributes: { 'toolyard.approval.decision': 'allow' } });
    expect(queue?.startMs).toBeGreaterThan(approve?.startMs ?? 0);
  });

  it('continues the agent’s trace over WebSocket and over batches', async () => {
    const [ws, batch] = [agentSpan(), agentSpan()];
    const stream = await agent.stream();
    stream.send({ op: 'submit', id: 1, call: { tool: 'echo', arguments: { text: 'hi' } }, traceparent: ws.traceparent });
    const byWs = await collector.whole(ws.traceId, ['submit_call echo', 'queue read', 'execute_tool echo'], ws.spanId);
    stream.close();
    expect(named(byWs, 'submit_call echo')[0]).toMatchObject({ kind: 'server', parentSpanId: ws.spanId });

    const calls = [1, 2].map((n) => ({ tool: 'echo', arguments: { n } }));
    await agent.request('POST', '/v1/batches', { calls, strategy: { type: 'parallel' } }, { traceparent: batch.traceparent });
    const byBatch = await collector.whole(batch.traceId, ['POST /v1/batches', 'execute_tool echo', 'execute_tool echo'], batch.spanId);
    for (const span of named(byBatch, 'submit_call echo')) expect(parentOf(byBatch, span)).toBe('POST /v1/batches');
  });

  it('respects the agent’s decision not to sample', async () => {
    const [silent, loud] = [agentSpan(false), agentSpan()];
    await submit('echo', { text: 'x' }, silent.traceparent);
    await submit('echo', { text: 'x' }, loud.traceparent);
    await collector.whole(loud.traceId, ['execute_tool echo', 'submit_call echo', 'POST /v1/calls'], loud.spanId);
    expect(collector.trace(silent.traceId)).toEqual([]);
  });

  it('exports no arguments, results or messages by default', async () => {
    const secret = 'canary-5f1d';
    const plain = agentSpan();
    await submit('shell', { command: `echo ${secret}` }, plain.traceparent);
    await submit('file_read', { path: `${secret}.txt` }, plain.traceparent);
    await collector.whole(plain.traceId, ['execute_tool shell', 'execute_tool file_read'], plain.spanId);
    expect(collector.bodies.filter((body) => body.includes(secret))).toEqual([]);

    const env = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' };
    for (const worker of toolyard.workers) worker.signal('SIGTERM');
    await Promise.all(toolyard.workers.map((worker) => worker.ended()));
    await toolyard.worker(env);
    const shown = agentSpan();
    await submit('shell', { command: `echo ${secret}` }, shown.traceparent);
    const [span] = named(await collector.whole(shown.traceId, ['execute_tool shell'], shown.spanId), 'execute_tool shell');
    expect(span?.attributes['gen_ai.tool.call.arguments']).toContain(`"command":"echo ${secret}"`);
    expect(span?.attributes['gen_ai.tool.call.result']).toContain(secret);
  });

  it('exports the span of an attempt whose worker was lost', async () => {
    const { traceId, spanId, traceparent } = agentSpan();
    const one = toolyard.workers.find(({ child }) => child.exitCode === null && child.signalCode === null);
    const two = await toolyard.worker({ WORKER_ID: 'two' });
    const { body } = await agent.submit('shell', { command: 'sleep 60' }, {}, { traceparent });
    const start = await eventually(async () => (await agent.events(body.id)).find(({ type }) => type === 'call.start'), 'the call to run');
    (JSON.stringify(start).includes('/worker/two') ? two : one)?.signal('SIGKILL');
    expect(await agent.ended(body.id)).toMatchObject({ outcome: 'unknown' });
    const [lost] = named(await collector.whole(traceId, ['recover'], spanId), 'recover');
    expect(lost).toMatchObject({
      failed: true,
      service: 'toolyard-worker',
      attributes: { 'error.type': 'outcome_unknown', 'toolyard.attempt': 1 },
    });
  });
});

describe('a collector that is away', () => {
  // Limit of five minutes: each process gives up on its last spans before it ends.
  it('runs calls and stops in time while the collector of traces is away', async () => {
    const collector = await OtlpCollector.start();
    const { url } = collector;
    await collector.close();
    const toolyard = await startTestCluster({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '20' } });
    try {
      const agent = new Agent(toolyard.gateways[0]?.url ?? '');
      const calls = await Promise.all(Array.from({ length: 20 }, (_unused, n) => agent.run('echo', { n })));
      expect(calls.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 20 }, () => 'completed'));
      const logged = () => toolyard.gateways.every((app) => app.log().includes('spans do not reach the collector'));
      await eventually(logged, 'the log to say that spans are lost');
      const metrics = await (await fetch(`${agent.url}/metrics`)).text();
      expect(metrics).toMatch(/toolyard_spans_exported_total\{result="failed"\} [1-9]/);
      for (const app of [...toolyard.gateways, ...toolyard.workers]) {
        app.signal('SIGTERM');
        expect(await app.ended()).toEqual({ code: 0, signal: null });
      }
    } finally {
      await toolyard.close();
    }
  }, 300_000);
});

describe('without a collector', () => {
  it.each(['gateway', 'worker'])('loads no SDK of OpenTelemetry in the %s without a collector', (app) => {
    const script = `
      await import('./dist/apps/${app}/src/main.js');
      const { openTracing, tracingConfig } = await import('#observability');
      const opened = await openTracing(tracingConfig({ OTEL_SDK_DISABLED: false }, 'x'), '1', console);
      const { createRequire } = await import('node:module');
      const loaded = Object.keys(createRequire(import.meta.url).cache).filter((path) => /@opentelemetry\\/(?!api\\/)/.test(path));
      console.log(JSON.stringify({ on: opened !== undefined, loaded }));`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    });
    expect([stdout.trim(), stderr]).toEqual(['{"on":false,"loaded":[]}', '']);
  });

  it('stops the start for a wrong setting of tracing and names it', () => {
    const env = { PATH: process.env['PATH'], OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    const { status, stderr } = spawnSync(process.execPath, [programOf('worker')], { encoding: 'utf8', env });
    expect(status).toBe(1);
    expect(stderr).toContain('OTEL_EXPORTER_OTLP_ENDPOINT: expected the http or https URL of an OTLP collector');
    expect(stderr).toContain('OTEL_EXPORTER_OTLP_PROTOCOL: expected http/json');
  });
});

/** A site whose page /flaky fails the first time. */
async function startSite() {
  const seen: IncomingHttpHeaders[] = [];
  let flaky = 0;
  const server = createServer((request, response) => {
    seen.push(request.headers);
    response.statusCode = request.url === '/flaky' && flaky++ === 0 ? 503 : 200;
    response.setHeader('content-type', 'text/plain').end('page');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the site does not listen');
  const host = `127.0.0.1:${address.port}`;
  return { url: `http://${host}`, host, seen, close: () => void server.close() };
}

/** An MCP server and an API with its document, whose tools take nothing, and the trace that each was called with. */
async function startServices() {
  const traces = new Map<string, unknown>();
  const { url, close } = await serveWeb(async (request) => {
    const { origin, pathname } = new URL(request.url);
    if (pathname === '/openapi.json') {
      const get = { operationId: 'openapi_work', responses: { 200: { description: 'Fine.' } } };
      const info = { title: 'Traced', version: '1' };
      return Response.json({ openapi: '3.0.0', info, servers: [{ url: origin }], paths: { '/work': { get } } });
    }
    if (pathname === '/work') {
      traces.set('openapi_work', request.headers.get('traceparent'));
      return Response.json({ done: true });
    }
    if (request.method !== 'POST') return new Response(null, { status: 405 });
    const { id, method, params } = (await request.json()) as { id?: number; method: string; params?: { _meta?: { traceparent?: string } } };
    if (id === undefined) return new Response(null, { status: 202 });
    if (method === 'tools/call') traces.set('mcp_work', params?._meta?.traceparent);
    const result = MCP_ANSWERS[method];
    const answer = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
    return Response.json({ jsonrpc: '2.0', id, ...answer });
  });
  return { url, close, traceOf: (tool: string) => traces.get(tool) };
}

const MCP_ANSWERS: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'traced', version: '1' } },
  'tools/list': {
    tools: [{ name: 'mcp_work', description: 'Works.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }],
  },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
};
