import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Batch } from '#contracts';
import { Agent, type Answer } from '../support/agent.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';
import { startValidatingProxy, contractViolations, type ValidatingProxy } from '../support/validated/validating-proxy.mjs';

type Media = Record<string, { schema: object }>;
interface Operation {
  readonly operationId: string;
  readonly security: object[];
  readonly 'x-codeSamples'?: readonly { readonly label: string }[];
  readonly responses: Record<string, { content?: Media; headers?: Record<string, object> } | undefined>;
}
interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
}

/** Headers allowed in every response. */
const ANY_HEADERS = new Set(
  [
    'connection content-length content-type date keep-alive transfer-encoding vary',
    'cache-control cross-origin-resource-policy referrer-policy x-content-type-options x-frame-options',
    // Headers of pages, files and streams.
    'accept-ranges content-security-policy etag last-modified x-accel-buffering',
  ].flatMap((names) => names.split(' ')),
);

/** Method and path, then a body and headers, as a program would send them. `{call}`, `{batch}` and the like stand for ids that exist. */
type Request = readonly [line: string, body?: unknown, headers?: Record<string, string>];

const NO_SCHEDULE = 'sch-00000000-0000-0000-0000-000000000000';
const NO_CALL = '00-01JZ8C5W3Q4X9R7T2M6K8N0P1V';
const WAIT = { prefer: 'wait=0' };
const MCP_ACCEPT = { accept: 'application/json, text/event-stream' };
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
const EVENTS = { accept: 'text/event-stream' };

const REQUESTS: Readonly<Record<string, readonly Request[]>> = {
  submitCall: [
    ['POST /v1/calls', { tool: 'echo', arguments: { a: 1 }, labels: { x: 'y' }, priority: 'high' }, WAIT],
    ['POST /v1/calls', { tool: 'no_such_tool' }],
    ['POST /v1/calls', { tool: 'shell', arguments: { command: 7 } }],
    ['POST /v1/calls', { tool: 'web_fetch', arguments: { url: 'http://127.0.0.1/' } }],
    ['POST /v1/calls', { tool: 'echo', parentCallId: '{call}' }],
    ['POST /v1/calls', { tool: 'echo', parentCallId: NO_CALL }],
    ['POST /v1/calls', { tool: 'shell', dialect: 'zeroclaw' }],
    ['POST /v1/calls', '{'],
    ['POST /v1/calls', '{"tool":"echo","arguments":{"half":"\\ud800"}}'],
    ['POST /v1/calls', { tool: 'echo' }, { traceparent: 'rubbish' }],
    ['POST /v1/calls', { tool: 'echo' }, { 'content-type': 'text/plain' }],
  ],
  quoteCall: [
    ['POST /v1/calls:quote', { tool: 'echo' }],
    ['POST /v1/calls:quote', { tool: 'no_such_tool' }],
    ['POST /v1/calls:quote', { tool: 'echo', parentCallId: '{call}' }],
    ['POST /v1/calls:quote', { tool: 'shell', dialect: 'zeroclaw' }],
    ['POST /v1/calls:quote', {}],
  ],
  listCalls: [['GET /v1/calls?limit=3'], ['GET /v1/calls?status=never'], ['GET /v1/calls?cursor=rubbish']],
  listViews: [['GET /v1/views']],
  putView: [
    ['PUT /v1/views/failed%20builds', { search: { result: 'error', q: 'build' } }],
    ['PUT /v1/views/failed', { search: { result: 7 } }],
    ['PUT /v1/views/%00', { search: {} }],
  ],
  deleteView: [['DELETE /v1/views/failed%20builds'], ['DELETE /v1/views/%00']],
  countCalls: [['GET /v1/calls:count?tool=echo'], ['GET /v1/calls:count?surprise=1']],
  facetCalls: [['GET /v1/calls:facets?tool=echo'], ['GET /v1/calls:facets?status=never']],
  cancelCalls: [
    ['POST /v1/calls:cancel', { filter: { tool: 'sleep' } }],
    ['POST /v1/calls:cancel', {}],
  ],
  replayCalls: [
    ['POST /v1/calls:replay', { filter: { tool: 'echo' }, dryRun: true }],
    ['POST /v1/calls:replay', { filter: { x: 1 } }],
  ],
  eraseCall: [
    ['POST /v1/calls/{call}/erase', { reason: 'asked for' }],
    ['POST /v1/calls/{call}/erase', { reason: 7 }],
    [`POST /v1/calls/${NO_CALL}/erase`],
  ],
  eraseCalls: [
    ['POST /v1/calls:erase', { filter: { tool: 'echo' }, dryRun: true }],
    ['POST /v1/calls:erase', { filter: { x: 1 } }],
  ],
  exportCalls: [['GET /v1/calls:export'], ['GET /v1/calls:export?format=ocsf']],
  getStats: [['GET /v1/stats'], ['GET /v1/stats?stepMs=1']],
  getToolStats: [['GET /v1/stats/tools'], ['GET /v1/stats/tools?since=yesterday']],
  listFailures: [['GET /v1/failures'], ['GET /v1/failures?limit=0']],
  listSessions: [['GET /v1/sessions'], ['GET /v1/sessions?cursor=rubbish']],
  getCall: [['GET /v1/calls/{call}'], ['GET /v1/calls/{call}?wait=abc'], [`GET /v1/calls/${NO_CALL}`], ['GET /v1/calls/%00']],
  getCallEvents: [
    ['GET /v1/calls/{call}/events'],
    ['GET /v1/calls/{call}/events', undefined, EVENTS],
    ['GET /v1/calls/{call}/events', undefined, { ...EVENTS, 'last-event-id': 'rubbish' }],
    [`GET /v1/calls/${NO_CALL}/events`],
  ],
  getCallDebugLog: [['GET /v1/calls/{call}/debug'], [`GET /v1/calls/${NO_CALL}/debug`]],
  getCallOutput: [
    ['GET /v1/calls/{call}/output'],
    ['GET /v1/calls/{call}/output', undefined, { range: 'bytes=0-1' }],
    ['GET /v1/calls/{call}/output', undefined, { range: 'bytes=9999-' }],
  ],
  putCallOutput: [
    ['PUT /v1/calls/{call}/output?worker=none&fence=1', 'text', { 'content-type': 'text/plain' }],
    ['PUT /v1/calls/{call}/output', 'text', { 'content-type': 'text/plain' }],
    ['PUT /v1/calls/{call}/output?worker=none&fence=1', { a: 1 }],
  ],
  startLogin: [['GET /v1/login'], ['GET /v1/login?returnTo=//evil.example.com']],
  finishLogin: [['GET /v1/login/callback?state=unknown&code=x'], ['GET /v1/login/callback', undefined, { accept: 'text/html' }]],
  loginOptions: [['GET /v1/login/options']],
  signOut: [['POST /v1/logout']],
  getMe: [['GET /v1/me']],
  listLogins: [['GET /v1/logins']],
  endLogins: [
    ['POST /v1/logins/end', { subject: 'no-one' }],
    ['POST /v1/logins/end', {}],
  ],
  cancelCall: [
    ['POST /v1/calls/{call}/cancel', {}],
    ['POST /v1/calls/{call}/cancel', { graceMs: -1 }],
    [`POST /v1/calls/${NO_CALL}/cancel`, {}],
  ],
  decideApproval: [
    ['POST /v1/calls/{asked}/decision', { decision: 'deny' }],
    ['POST /v1/calls/{call}/decision', { decision: 'allow' }],
    ['POST /v1/calls/{call}/decision', { decision: 'maybe' }],
  ],
  replayCall: [
    ['POST /v1/calls/{call}/replay', { arguments: { b: 2 } }, WAIT],
    ['POST /v1/calls/{call}/replay', { arguments: 3 }],
  ],
  submitBatch: [
    ['POST /v1/batches', { sessionId: 'openapi-batch', calls: [{ tool: 'echo' }, { tool: 'no_such_tool' }] }, WAIT],
    ['POST /v1/batches', { calls: [] }],
  ],
  getBatch: [['GET /v1/batches/{batch}'], ['GET /v1/batches/none']],
  giveInput: [
    ['POST /v1/calls/{call}/input', { value: 'x' }],
    ['POST /v1/calls/{call}/input', {}],
    [`POST /v1/calls/${NO_CALL}/input`, { value: 'x' }],
  ],
  listApprovals: [['GET /v1/approvals'], ['GET /v1/approvals?limit=x']],
  listTools: [
    ['GET /v1/tools'],
    ['GET /v1/tools?format=mcp'],
    ['GET /v1/tools?format=anthropic'],
    ['GET /v1/tools?format=openai'],
    ['GET /v1/tools?format=xml'],
    ['GET /v1/tools?dialect=zeroclaw'],
  ],
  getSession: [['GET /v1/sessions/openapi'], ['GET /v1/sessions/a%2fb']],
  putSession: [
    ['PUT /v1/sessions/openapi', { posture: { autonomy: 'full' } }],
    ['PUT /v1/sessions/openapi', { surprise: 1 }],
  ],
  createSchedule: [
    ['POST /v1/schedules', { cron: '0 7 * * 1-5', timeZone: 'Europe/Berlin', call: { tool: 'echo' } }],
    ['POST /v1/schedules', { everyMs: 60_000, name: 'minutely', call: { tool: 'echo', arguments: { n: 1 } } }],
    ['POST /v1/schedules', { cron: 'every day', call: { tool: 'echo' } }],
    ['POST /v1/schedules', { at: 'tomorrow', call: { tool: 'echo' } }],
  ],
  previewSchedule: [
    ['POST /v1/schedules:preview', { cron: '0 7 * * 1-5', timeZone: 'Europe/Berlin' }],
    ['POST /v1/schedules:preview', { cron: '61 * * * *' }],
    ['POST /v1/schedules:preview', { everyMs: 1_000, at: '2999-01-01T00:00:00Z' }],
  ],
  listSchedules: [['GET /v1/schedules']],
  listKeys: [['GET /v1/keys']],
  getUsage: [['GET /v1/usage?per=day'], ['GET /v1/usage?per=year']],
  testPolicy: [
    ['POST /v1/policy:test', { config: { policy: { exclude: ['echo'] } }, limit: 3 }],
    ['POST /v1/policy:test', { config: { policy: { exclude: 7 } } }],
    ['POST /v1/policy:test', { config: { keys: [] } }],
  ],
  listActs: [['GET /v1/audit?type=admin.key_created&limit=2'], ['GET /v1/audit?type=nothing'], ['GET /v1/audit?cursor=rubbish']],
  listWebhooks: [['GET /v1/webhooks']],
  listDeliveries: [['GET /v1/webhooks/none/deliveries'], ['GET /v1/webhooks/none/deliveries?state=lost']],
  retryDelivery: [['POST /v1/webhooks/none/deliveries/evt_1/retry']],
  createKey: [
    ['POST /v1/keys', { name: 'of the documents', scopes: ['read'], expiresAt: '2999-01-01T00:00:00Z' }],
    ['POST /v1/keys', { name: '' }],
    ['POST /v1/keys', { name: 'late', expiresAt: '2020-01-01T00:00:00Z' }],
  ],
  getKey: [['GET /v1/keys/bootstrap'], ['GET /v1/keys/none']],
  rotateKey: [['POST /v1/keys/none/rotate', {}], ['POST /v1/keys/bootstrap/rotate', { overlapMs: -1 }], ['POST /v1/keys/bootstrap/rotate']],
  revokeKey: [['DELETE /v1/keys/bootstrap'], ['DELETE /v1/keys/none']],
  getSchedule: [['GET /v1/schedules/{schedule}'], [`GET /v1/schedules/${NO_SCHEDULE}`], ['GET /v1/schedules/none']],
  pauseSchedule: [['POST /v1/schedules/{schedule}/pause'], [`POST /v1/schedules/${NO_SCHEDULE}/pause`]],
  resumeSchedule: [['POST /v1/schedules/{schedule}/resume'], ['POST /v1/schedules/none/resume']],
  runSchedule: [['POST /v1/schedules/{schedule}/run'], [`POST /v1/schedules/${NO_SCHEDULE}/run`]],
  deleteSchedule: [[`DELETE /v1/schedules/${NO_SCHEDULE}`], ['DELETE /v1/schedules/{discarded}']],
  addSource: [
    ['POST /v1/sources', { name: 'tracker', kind: 'mcp', url: 'https://tools.example.com/mcp' }],
    ['POST /v1/sources', { name: 'tracker', kind: 'mcp', command: ['sh'] }],
    ['POST /v1/sources', { name: 'tracker', kind: 'mcp', url: 'http://169.254.169.254/' }],
    ['POST /v1/sources', { name: 'Tracker', kind: 'mcp' }],
  ],
  uploadBundle: [
    ['POST /v1/bundles', 'no archive', { 'content-type': 'application/octet-stream' }],
    ['POST /v1/bundles', { a: 1 }],
  ],
  listSources: [['GET /v1/sources']],
  getSource: [['GET /v1/sources/tracker'], ['GET /v1/sources/unknown'], ['GET /v1/sources/A']],
  acceptSource: [
    ['POST /v1/sources/tracker/accept', {}],
    ['POST /v1/sources/unknown/accept', { tools: [{ rawName: 'a' }] }],
  ],
  beginSourceAuthorization: [['POST /v1/sources/tracker/authorization'], ['POST /v1/sources/A/authorization']],
  finishSourceAuthorization: [
    ['POST /v1/source-authorizations', { url: 'https://toolyard.example.com/authorized/a?state=unknown' }],
    ['POST /v1/source-authorizations', { url: 'tracker' }],
  ],
  revokeSourceAuthorization: [['DELETE /v1/sources/tracker/authorization'], ['DELETE /v1/sources/unknown/authorization']],
  removeSource: [['DELETE /v1/sources/tracker'], ['DELETE /v1/sources/tracker']],
  listSteering: [['GET /v1/sessions/openapi/steering'], ['GET /v1/sessions/%00/steering']],
  steerSession: [
    ['POST /v1/sessions/openapi/steer', { message: 'stop that' }],
    ['POST /v1/sessions/openapi/steer', {}],
  ],
  cancelBatch: [
    ['POST /v1/batches/{batch}/cancel', {}],
    ['POST /v1/batches/nothing/cancel', {}],
  ],
  cancelSession: [
    ['POST /v1/sessions/openapi/cancel', {}],
    ['POST /v1/sessions/a%2fb/cancel', {}],
  ],
  deleteSession: [['DELETE /v1/sessions/openapi'], ['DELETE /v1/sessions/a%2fb']],
  streamEvents: [['GET /v1/events?types=nothing']],
  connectWorker: [['GET /v1/worker']],
  registerWorker: [
    ['POST /v1/workers', { op: 'hello', protocol: 'toolyard-worker/1', worker: 'documented', sdk: 'test/1', tools: [] }],
    ['POST /v1/workers', { op: 'hello' }],
  ],
  pollWorker: [['POST /v1/workers/unknown/poll'], ['POST /v1/workers/unknown/poll?wait=x']],
  sendWorkerMessages: [
    ['POST /v1/workers/unknown/messages', { frames: [{ op: 'drain' }] }],
    ['POST /v1/workers/unknown/messages', { frames: [] }],
  ],
  listWorkers: [['GET /v1/workers']],
  drainWorker: [['POST /v1/workers/unknown/drain']],
  listQueues: [['GET /v1/queues']],
  whoAmI: [['GET /v1/whoami']],
  getDiagnostics: [['GET /v1/diagnostics']],
  postMcp: [
    ['POST /mcp', { jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE }, MCP_ACCEPT],
    ['POST /mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }, { ...MCP_ACCEPT, 'mcp-session-id': 'unknown' }],
    ['POST /mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, MCP_ACCEPT],
    ['POST /mcp', '{', MCP_ACCEPT],
  ],
  getMcp: [['GET /mcp']],
  deleteMcp: [['DELETE /mcp'], ['DELETE /mcp', undefined, { 'mcp-session-id': 'unknown' }]],
  getMcpResource: [['GET /.well-known/oauth-protected-resource/mcp']],
  getProtectedResource: [['GET /.well-known/oauth-protected-resource']],
  live: [['GET /livez']],
  ready: [['GET /readyz']],
  metrics: [['GET /metrics']],
  openStream: [['GET /v1/stream']],
  getOpenApi: [['GET /openapi.json']],
  getOpenApiYaml: [['GET /openapi.yaml']],
  getAsyncApi: [['GET /asyncapi.json']],
  getApiExplorer: [['GET /docs']],
  getDashboard: [['GET /']],
};

describe('every answer is one that the OpenAPI document foretells', () => {
  let gateway: TestGateway;
  let document: Document;
  let proxy: ValidatingProxy | undefined;
  const ids: Record<string, string> = {};
  const ajv = new Ajv2020({ strict: false, validateFormats: false });

  beforeAll(async () => {
    gateway = await startTestGateway('openapi', { lists: true, metricsKey: BOOTSTRAP_KEY });
    const { agent } = gateway;
    document = (await agent.get<Document>('/openapi.json')).body;
    ajv.addSchema({ $id: 'openapi', ...document });
    proxy = await startValidatingProxy(document, gateway.url);
    ids['call'] = (await agent.submit('echo', { a: 1 }, { sessionId: 'openapi' })).body.id;
    await gateway.run(ids['call']);
    const schedule = { cron: '0 0 1 1 *', call: { tool: 'echo' } };
    for (const name of ['schedule', 'discarded']) ids[name] = (await agent.request('POST', '/v1/schedules', schedule)).body.id;
    ids['batch'] = (await agent.request<Batch>('POST', '/v1/batches', { calls: [{ tool: 'echo' }] })).body.id;
    await agent.request('PUT', '/v1/sessions/openapi-asked', { posture: { autonomy: 'supervised' } });
    ids['asked'] = (await agent.submit('shell', { command: 'touch x' }, { sessionId: 'openapi-asked' })).body.id;
  });
  afterAll(async () => {
    proxy?.stop();
    await gateway.close();
  });

  const ask = (agent: Agent, [line, body, headers]: Request): Promise<Answer> => {
    const [method = '', path = ''] = fill(line).split(' ');
    return agent.request<unknown>(
      method,
      path,
      body === undefined ? undefined : fill(typeof body === 'string' ? body : JSON.stringify(body)),
      headers,
    );
  };
  const fill = (text: string) => text.replace(/\{(call|batch|asked|schedule|discarded)\}/g, (_all, name: string) => ids[name] ?? '');

  /** Violation of the document by a response; undefined = none. */
  const faultOf = (operationId: string, { status, headers, body }: Answer): string | undefined => {
    const [path, method] = whereIs(operationId);
    const pointer = (...parts: string[]) => parts.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
    const response = document.paths[path]?.[method]?.responses[status];
    if (response === undefined) return `status ${status} is not documented: ${JSON.stringify(body)}`;
    const unknown = [...headers.keys()].filter((name) => !ANY_HEADERS.has(name) && !documented(response.headers, name));
    if (unknown.length > 0) return `the headers ${unknown.join(', ')} are not documented for ${status}`;
    const media = headers.get('content-type')?.split(';')[0] ?? '';
    if (response.content === undefined) return body === '' ? undefined : 'it has a body and none is documented';
    if (response.content[media] === undefined) return `${media} is not documented for ${status}`;
    if (!media.endsWith('json')) return undefined;
    const $ref = `openapi#/${pointer('paths', path, method, 'responses', String(status), 'content', media, 'schema')}`;
    return ajv.validate({ $ref }, body) ? undefined : ajv.errorsText();
  };
  const whereIs = (operationId: string) => {
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, operation] of Object.entries(methods)) if (operation.operationId === operationId) return [path, method] as const;
    throw new Error(`The document has no operation ${operationId}`);
  };

  /**
   * Prism's findings about the response to the same request through it. Waits for the end of a body, so live streams are not
   * supported.
   */
  const faultByProxy = async (request: Request): Promise<unknown> => {
    if (/\/v1\/(stream|worker)$/.test(request[0]) || request[2]?.['accept'] === EVENTS.accept) return [];
    const { headers } = await ask(new Agent(proxy?.url ?? '', gateway.agent.key), request);
    return contractViolations(headers.get('sl-violations'));
  };

  const documented = (headers: Record<string, object> = {}, name: string) =>
    Object.keys(headers).some((known) => known.toLowerCase() === name);

  it('documents every route of the gateway, and no other', () => {
    const { routeTable } = gateway.app.getHttpAdapter().getInstance();
    const isFile = (path: string) => /^\/(docs|assets)\/|^\/[^/]+\.(html|svg|png|ico|txt|webmanifest)$/.test(path);
    const served = routeTable.lines
      .map((line) => line.replace(/:([A-Za-z]+)(?=\/|$)/g, (all, name: string) => (line.includes(`/:${name}`) ? `{${name}}` : all)))
      .filter((line) => !line.startsWith('HEAD ') && !line.startsWith('OPTIONS '))
      .filter((line) => !isFile(line.split(' ')[1] ?? ''));
    const known = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect([...new Set(served)].sort()).toEqual(known.sort());
  });

  it('shows samples in curl, TypeScript and Python of every HTTP operation', () => {
    const bare = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .filter((operation) => operation['x-codeSamples']?.map(({ label }) => label).join() !== 'curl,TypeScript,Python');
    expect(bare.map(({ operationId }) => operationId)).toEqual(['connectWorker', 'openStream']);
  });

  it('finds a source that no worker has connected to yet, and accepts nothing of it', async () => {
    const { agent } = gateway;
    await agent.request('POST', '/v1/sources', { name: 'later', kind: 'mcp', url: 'https://tools.example.com/mcp' });
    expect(await agent.request('POST', '/v1/sources/later/accept', {})).toMatchObject({
      status: 200,
      body: { name: 'later', status: 'connecting', tools: 0 },
    });
    expect((await agent.request('DELETE', '/v1/sources/later')).status).toBe(204);
  });

  it('finds by a proxy an answer missing in the OpenAPI document', async () => {
    const responses = {
      200: { description: 'Other.', content: { 'application/json': { schema: { type: 'object', required: ['other'] } } } },
    };
    const other = { ...document, paths: { '/livez': { get: { operationId: 'live', responses } } } };
    const strict = await startValidatingProxy(other, gateway.url);
    try {
      expect(contractViolations((await new Agent(strict.url, '').get('/livez')).headers.get('sl-violations'))).not.toEqual([]);
    } finally {
      strict.stop();
    }
  });

  it('lists no operation that this file does not request', () => {
    const documented = Object.values(document.paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
    expect(documented.sort()).toEqual(Object.keys(REQUESTS).sort());
  });

  it.each(Object.keys(REQUESTS))('answers %s only as the OpenAPI document foretells', async (operationId) => {
    for (const request of REQUESTS[operationId] ?? []) {
      const answer = await ask(gateway.agent, request);
      expect([...request, faultOf(operationId, answer)]).toEqual([...request, undefined]);
      expect([...request, answer.status < 500 || answer.status === 501]).toEqual([...request, true]);
      expect([...request, await faultByProxy(request)]).toEqual([...request, []]);
    }
    const [first] = REQUESTS[operationId] ?? [];
    const open = document.paths[whereIs(operationId)[0]]?.[whereIs(operationId)[1]]?.security.length === 0;
    const stranger = await ask(new Agent(gateway.url, 'no such key'), first ?? ['']);
    expect([operationId, open || stranger.status, faultOf(operationId, stranger)]).toEqual([operationId, open || 401, undefined]);
  });
});
