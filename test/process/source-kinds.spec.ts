import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { ToolyardWorker, workerTool } from '#client/worker';
import {
  SOURCE_KINDS,
  type Call,
  type CallEvent,
  type Problem,
  type SourceKind,
  type SourceSummary,
  type ToolDescriptor,
} from '#contracts';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startModelServer, type ModelServer } from '../support/model-server.js';
import { writePluginPackage } from '../support/plugin-package.js';
import { serveWeb, type WebServer } from '../support/serve-web.js';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';

/** Task of a call that runs until it is stopped. Every other one is answered at once, with a secret. */
const WAIT = 'wait';
const SECRET = 'ghp_R3sultS3cr3tR3sultS3cr3tR3sultS3cr3t';
const ANSWER = `done with ${SECRET}`;
const ARGUMENT_SECRET = 'ghp_Argum3ntS3cr3tArgum3ntS3cr3tArgum3nt';
const INPUT = { type: 'object', properties: { task: { type: 'string' } }, required: ['task'] };
/** Tools, one of each kind. A tool of the kind `agent` is called by the name of its source. */
const TOOLS: Readonly<Record<SourceKind, string>> = {
  mcp: 'mcp_work',
  openapi: 'openapi_work',
  folder: 'folder_work',
  worker: 'worker_work',
  agent: 'assistant',
  plugin: 'plugin_work',
};
/** Connecting all sources takes a second. */
const START_MS = 30_000;
/** Deadline of one run. A sub-agent meets it once an attempt. */
const RUN_MS = 300;
/** Events of a lifecycle, without updates, progress and turns, which differ between sources. */
const LIFECYCLE: readonly CallEvent['type'][] = [
  'call.submitted',
  'call.approval_requested',
  'call.approval_decided',
  'call.start',
  'call.retry',
  'call.cancel_requested',
  'call.end',
];
const AGENTS = {
  reader: { posture: { autonomy: 'read_only' } },
  without: { policy: { exclude: ['@mcp'] } },
  asks: { posture: { autonomy: 'supervised', permissionMode: 'prompt' } },
  once: { limits: { rates: [{ per: 'tool', calls: 1, windowMs: 86_400_000 }] } },
};
const PLUGIN = `import { definePlugin, defineTool } from '@toolyard/tool-sdk';
import { z } from 'zod';
const stopped = (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
export default definePlugin({
  name: 'by-plugin',
  config: z.strictObject({}),
  tools: () => [
    defineTool({
      name: '${TOOLS.plugin}',
      description: 'Works.',
      input: z.strictObject({ task: z.string() }),
      run: ({ task }, { signal }) => (task === '${WAIT}' ? stopped(signal) : '${ANSWER}'),
    }),
  ],
});
`;

const folder = mkdtempSync(join(tmpdir(), 'toolyard-source-kinds-'));
let web: WebServer;
let models: ModelServer;
let worker: ToolyardWorker;
let works: Promise<void>;
let toolyard: TestCluster;
let agent: Agent;

/** Starts an installation with a source of each kind; none is trusted. */
beforeAll(async () => {
  web = await serveWeb(serve);
  models = await startModelServer();
  models.on('assistant', async ({ body }) =>
    new RegExp(`\\b${WAIT}\\b`).test(JSON.stringify(body.messages.at(-1))) ? { until: new Promise<never>(() => {}) } : { text: ANSWER },
  );
  writePluginPackage(folder, 'kinds', PLUGIN);
  mkdirSync(join(folder, 'tools', 'work'), { recursive: true });
  const script = `case "$(cat)" in *'"${WAIT}"'*) sleep 600 ;; *) echo '${ANSWER}' ;; esac`;
  const tool = { name: TOOLS.folder, description: 'Works.', input: INPUT, run: ['/bin/bash', '-c', script] };
  writeFileSync(join(folder, 'tools', 'work', 'tool.yaml'), JSON.stringify(tool));
  const model = { provider: 'openai-compatible', name: 'assistant', url: models.url };
  const sources = [
    { kind: 'mcp', name: 'by-mcp', url: `${web.url}/mcp` },
    { kind: 'openapi', name: 'by-openapi', document: `${web.url}/openapi.json` },
    { kind: 'folder', name: 'by-folder', path: join(folder, 'tools') },
    { kind: 'agent', name: TOOLS.agent, model },
  ];
  const config = join(folder, 'toolyard.json');
  writeFileSync(config, JSON.stringify({ sources, agents: AGENTS, plugins: [{ package: 'kinds' }] }));
  toolyard = await startTestCluster({ env: { TOOLYARD_CONFIG: config } });
  ({ agent } = toolyard);
  worker = foreignWorker(agent.url);
  works = worker.run();
  let missing: readonly string[] = [];
  await eventually(
    async () => {
      const { tools } = (await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools')).body;
      missing = Object.values(TOOLS).filter((name) => !tools.some((tool) => tool.name === name));
      return missing.length === 0;
    },
    () => `the tools ${missing.join(', ')}`,
    START_MS,
  );
});
afterAll(async () => {
  worker?.stop();
  await works;
  await toolyard?.close();
  web?.close();
  await models?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** An MCP server, and an API with its document. */
async function serve(request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === '/openapi.json') return Response.json(document(new URL(request.url).origin));
  const answered = async (task: unknown, answer: object) => {
    if (task === WAIT) await new Promise((resolve) => request.signal.addEventListener('abort', resolve));
    return Response.json(answer);
  };
  if (pathname === '/work') return answered(searchParams.get('task'), { text: ANSWER });
  if (request.method !== 'POST') return new Response(null, { status: 405 });
  const { id, method, params } = (await request.json()) as { id?: number; method: string; params?: { arguments?: { task?: unknown } } };
  if (id === undefined) return new Response(null, { status: 202 });
  const message = { jsonrpc: '2.0', id };
  if (method === 'tools/call')
    return answered(params?.arguments?.task, { ...message, result: { content: [{ type: 'text', text: ANSWER }] } });
  const result = MCP_ANSWERS[method];
  return Response.json({ ...message, ...(result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result }) });
}

const MCP_ANSWERS: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'kinds', version: '1' } },
  'tools/list': { tools: [{ name: TOOLS.mcp, description: 'Works.', inputSchema: INPUT }] },
};

function document(url: string): object {
  const parameters = [{ name: 'task', in: 'query', required: true, schema: { type: 'string' } }];
  const operation = { operationId: TOOLS.openapi, description: 'Works.', parameters, responses: { 200: { description: 'Fine.' } } };
  return { openapi: '3.0.0', info: { title: 'Kinds', version: '1' }, servers: [{ url }], paths: { '/work': { post: operation } } };
}

function foreignWorker(baseUrl: string): ToolyardWorker {
  const stopped = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
  const work = workerTool({
    name: TOOLS.worker,
    description: 'Works.',
    input: z.strictObject({ task: z.string() }),
    run: ({ task }, { signal }) => (task === WAIT ? stopped(signal) : ANSWER),
  });
  return new ToolyardWorker({ baseUrl, apiKey: TEST_KEY, name: 'by-worker', tools: [work], WebSocket });
}

const submit = (kind: SourceKind, task: string, more: Record<string, unknown> = {}) => agent.submit(TOOLS[kind], { task }, more);
const lifecycle = async ({ id }: Pick<Call, 'id'>) =>
  (await agent.events(id)).map(({ type }) => type).filter((type) => LIFECYCLE.includes(type));
const refusal = ({ status, body }: Awaited<ReturnType<typeof submit>>) => {
  const { code, callId } = body as unknown as Problem & { callId: string };
  return { status, code, id: callId };
};

/** A check of each kind, started for all kinds by the first of its tests: they wait for the same timers at once. */
function atOnce(check: (kind: SourceKind) => Promise<void>): (kind: SourceKind) => Promise<void> {
  let checks: ReadonlyMap<SourceKind, Promise<void>> | undefined;
  return async (kind) => {
    checks ??= new Map(SOURCE_KINDS.map((each) => [each, check(each)]));
    await Promise.allSettled(checks.values());
    await checks.get(kind);
  };
}

describe('a tool of a source', () => {
  it('covers every kind of source', async () => {
    const { sources } = (await agent.get<{ sources: SourceSummary[] }>('/v1/sources')).body;
    expect([...new Set(sources.map(({ kind }) => kind))].sort()).toEqual([...SOURCE_KINDS].sort());
  });

  it.each(SOURCE_KINDS)(
    'refuses a tool of the kind %s by policy: by its posture and by its name, and records the call',
    atOnce(async (kind) => {
      for (const agentId of ['reader', 'without']) {
        const { id, ...refused } = refusal(await submit(kind, 'x', { agentId }));
        expect(refused).toEqual({ status: 403, code: 'policy_denied' });
        expect(await lifecycle({ id })).toEqual(['call.submitted', 'call.end']);
      }
    }),
  );

  it.each(SOURCE_KINDS)(
    'runs a tool of the kind %s only when a person allows it, and never when one denies it',
    atOnce(async (kind) => {
      const decided = async (decision: string) => {
        const { body } = await submit(kind, 'x', { agentId: 'asks' });
        expect(body.status).toBe('waiting_approval');
        await agent.request('POST', `/v1/calls/${body.id}/decision`, { decision });
        const { outcome, error } = await agent.ended(body.id);
        return [outcome, error?.code, ...(await lifecycle(body))];
      };
      const asked = ['call.submitted', 'call.approval_requested', 'call.approval_decided'];
      expect(await decided('allow')).toEqual(['completed', undefined, ...asked, 'call.start', 'call.end']);
      expect(await decided('deny')).toEqual(['denied', 'approval_denied', ...asked, 'call.end']);
    }),
  );

  it.each(SOURCE_KINDS)(
    'limits calls of a tool of the kind %s, with a retry time',
    atOnce(async (kind) => {
      expect((await agent.run(TOOLS[kind], { task: 'x' }, { agentId: 'once' })).outcome).toBe('completed');
      const second = await submit(kind, 'x', { agentId: 'once' });
      const { id, ...refused } = refusal(second);
      expect(refused).toEqual({ status: 429, code: 'rate_limited' });
      expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await lifecycle({ id })).toEqual(['call.submitted', 'call.end']);
    }),
  );

  it.each(SOURCE_KINDS)(
    'redacts secrets in arguments and results of a tool of the kind %s',
    atOnce(async (kind) => {
      const call = await agent.run(TOOLS[kind], { task: `use ${ARGUMENT_SECRET}` });
      expect(call).toMatchObject({ outcome: 'completed', arguments: { task: expect.stringMatching(/^use \[REDACTED/) } });
      expect(JSON.stringify(call.result)).toMatch(/done with \[REDACTED/);
      const shown = JSON.stringify([call, await agent.events(call.id)]);
      expect([SECRET, ARGUMENT_SECRET].filter((secret) => shown.includes(secret))).toEqual([]);
    }),
  );

  it.each(SOURCE_KINDS)(
    'stops a running tool of the kind %s when its call is cancelled',
    atOnce(async (kind) => {
      const { body } = await submit(kind, WAIT);
      await eventually(async () => (await agent.get(`/v1/calls/${body.id}`)).body.status === 'running', 'the call to run');
      await agent.request('POST', `/v1/calls/${body.id}/cancel`, {});
      expect(await agent.ended(body.id)).toMatchObject({ outcome: 'cancelled', error: { code: 'cancelled', retryable: false } });
      expect(await lifecycle(body)).toEqual(['call.submitted', 'call.start', 'call.cancel_requested', 'call.end']);
    }),
  );

  it.each(SOURCE_KINDS)(
    'stops a running tool of the kind %s at the deadline of its call',
    atOnce(async (kind) => {
      const { body } = await submit(kind, WAIT, { timeouts: { runMs: RUN_MS }, retry: { backoffMs: 50, maxBackoffMs: 50 } });
      expect(await agent.ended(body.id)).toMatchObject({ outcome: 'timed_out', error: { code: 'run_timeout' } });
      // The time of a sub-agent is that of one turn, which is asked for again as often as the call may be retried.
      const types = (await lifecycle(body)).filter((type) => kind !== 'agent' || type !== 'call.retry');
      expect(kind === 'agent' ? [...new Set(types)] : types).toEqual(['call.submitted', 'call.start', 'call.end']);
    }),
  );
});
