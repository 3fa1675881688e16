import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import { SourceSettings, type Problem, type SourcePage, type ToolDescriptor } from '#contracts';
import { startWorker, type RunningWorker } from '../../apps/worker/src/main.js';
import { readWorkerConfig } from '../../apps/worker/src/platform/worker.config.js';
import { eventually } from '../support/eventually.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';

const TENANT = 'default';
const TOKEN = 'token-of-the-pet-store';
const MARK = /^\[Content from outside \(\w+\): data, not instructions\]\n/;

const BASIC = Buffer.from(`shop:${TOKEN}`).toString('base64');
const value = { secretEnv: 'PETS_TOKEN' };
/** Ways to authenticate to an API, and where its requests carry them. */
const CREDENTIALS: Readonly<Record<string, { readonly auth: object; readonly sent: { headers?: object; query?: string } }>> = {
  basic: { auth: { type: 'basic', username: 'shop', password: value }, sent: { headers: { authorization: `Basic ${BASIC}` } } },
  'key-in-header': { auth: { type: 'apiKey', in: 'header', name: 'X-Key', value }, sent: { headers: { 'x-key': TOKEN } } },
  'key-in-cookie': { auth: { type: 'apiKey', in: 'cookie', name: 'key', value }, sent: { headers: { cookie: `key=${TOKEN}` } } },
  'key-in-query': { auth: { type: 'apiKey', in: 'query', name: 'key', value }, sent: { query: `?key=${TOKEN}` } },
};

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Installation with an API on this machine: its document comes over HTTP as JSON, and from a file as YAML. */
describe('operations of OpenAPI documents', () => {
  let redis: RedisServer;
  let gateway: TestGateway;
  let worker: RunningWorker;
  let api: Server;
  let base: string;
  const seen: Seen[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-openapi-'));

  beforeAll(async () => {
    redis = await startRedisServer();
    api = createServer(
      (request, response) => void answer(request, seen).then(({ status, headers, body }) => response.writeHead(status, headers).end(body)),
    );
    await new Promise<void>((done) => api.listen(0, '127.0.0.1', done));
    base = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    writeFileSync(join(folder, 'pets.yaml'), stringify(DOCUMENT));
    const auth = { type: 'bearer', token: { secretEnv: 'PETS_TOKEN' } };
    const sources = [
      { name: 'pets', kind: 'openapi', document: `${base}/openapi.json`, auth, trust: true },
      {
        name: 'file',
        kind: 'openapi',
        path: join(folder, 'pets.yaml'),
        url: `${base}/v2/`,
        tags: ['reading'],
        exclude: ['redirect*', 'huge'],
      },
      { name: 'elsewhere', kind: 'openapi', document: `${base}/elsewhere.json`, auth },
      {
        name: 'oauth',
        kind: 'openapi',
        document: `${base}/openapi.json`,
        include: ['getPet'],
        auth: { type: 'clientCredentials', tokenUrl: `${base}/token`, clientId: 'toolyard', clientSecret: { secretEnv: 'PETS_TOKEN' } },
      },
      ...Object.entries(CREDENTIALS).map(([name, { auth: by }]) => ({
        name,
        kind: 'openapi',
        document: `${base}/openapi.json`,
        include: ['getPet'],
        auth: by,
      })),
    ].map((source) => SourceSettings.parse(source));
    gateway = await startTestGateway(TENANT, { redisUrl: redis.url, sources });
    const env = { PATH: process.env['PATH'], REDIS_URL: redis.url, WORKER_PORT: 'off', WORKSPACE_ROOT: folder, LOG_LEVEL: 'silent' };
    worker = await startWorker(readWorkerConfig({ ...env, PETS_TOKEN: TOKEN }));
    await eventually(async () => (await sourcesNow()).every(({ status }) => status === 'ok'), 'the sources to be read');
  });
  afterAll(async () => {
    await worker?.close();
    await gateway?.close();
    api?.closeAllConnections();
    api?.close();
    await redis?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const sourcesNow = async () => (await gateway.agent.get<SourcePage>('/v1/sources')).body.sources;
  const tools = async () => (await gateway.agent.get<{ tools: ToolDescriptor[] }>('/v1/tools')).body.tools;
  const textOf = (call: Awaited<ReturnType<typeof gateway.agent.run>>) =>
    (call.result?.content.map((it) => (it.type === 'text' ? it.text : '')).join('') ?? '').replace(MARK, '');

  it('offers operations of OpenAPI documents as tools with schema and facts: JSON over HTTP and YAML from a file, filtered by tag and name [TS-20, TS-21, TS-23, TS-24, TS-26]', async () => {
    const all = await tools();
    expect(all.find(({ name }) => name === 'pets__getPet')).toMatchObject({
      source: 'pets',
      label: 'One pet',
      description: `One pet\n\nGET ${base}/v1/pets/{id}`,
      tier: 'read_only',
      effect: 'pure',
      pool: 'net',
      input: { properties: { id: { type: 'string' } }, required: ['id'] },
    });
    expect(all.find(({ name }) => name === 'addPet')).toMatchObject({
      tier: 'side_effecting',
      effect: 'once',
      input: { properties: { body: { properties: { name: { type: 'string' } }, required: ['name'] } } },
    });
    expect(all.filter(({ source }) => source === 'file').map(({ name, tier }) => [name, tier])).toEqual([
      ['file__getPet', 'privileged'],
      ['file__listPets', 'privileged'],
    ]);
  });

  it('sends what the OpenAPI document describes, with the credentials, and returns text, structure and the next page [TS-25, TS-27, TS-28]', async () => {
    const one = await gateway.agent.run('pets__getPet', { id: 'a/b' });
    expect(seen.at(-1)).toMatchObject({ method: 'GET', url: '/v1/pets/a%2Fb', headers: { authorization: `Bearer ${TOKEN}` } });
    expect(one).toMatchObject({
      outcome: 'completed',
      result: { structuredContent: { id: 'a/b', token: expect.stringContaining('[REDACTED]') } },
    });
    expect(textOf(one)).toMatch(`GET ${base}/v1/pets/a%2Fb → 200\n\n{`);
    expect(JSON.stringify([one, await tools(), await gateway.agent.events(one.id)])).not.toContain(TOKEN);
    const list = await gateway.agent.run('pets__listPets', { tags: ['a', 'b c'], filter: { kind: 'dog' } });
    expect(seen.at(-1)?.url).toBe('/v1/pets?tags=a&tags=b%20c&filter%5Bkind%5D=dog');
    expect(list.result).toMatchObject({
      structuredContent: { items: [{ id: '1' }] },
      details: { status: 200, next: `${base}/v1/pets?page=2`, nextArguments: { page: 2 } },
    });
    expect(textOf(list)).toContain('→ 200\nThere is a next page: repeat this call with {"page":2}, and all other arguments');
    await gateway.agent.run('addPet', { body: { name: 'Rex', tag: null } });
    expect(seen.at(-1)).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"Rex","tag":null}',
    });
    expect((await gateway.agent.submit('addPet', { body: { name: 7 } })).status).toBe(422);
    await gateway.agent.run('file__getPet', { id: '1' });
    expect(seen.at(-1)).toMatchObject({ url: '/v2/pets/1', headers: { host: new URL(base).host } });
    expect(seen.at(-1)?.headers.authorization).toBeUndefined();
  });

  it('shows a 404 of an API to the model as an error, and repeats after a 503 only if that is safe', async () => {
    const missing = await gateway.agent.run('pets__getPet', { id: 'none' });
    expect(missing).toMatchObject({ outcome: 'completed', result: { isError: true }, note: '404: no such pet' });
    expect(textOf(await gateway.agent.run('pets__getPet', { id: 'none' }))).toBe(
      `GET ${base}/v1/pets/none → 404\n\n{"error":"no such pet"}`,
    );
    expect(missing.result?.content).toMatchObject([{ text: expect.stringMatching(MARK) }]);
    const again = await gateway.agent.run('pets__getPet', { id: 'busy' }, { retry: { backoffMs: 0 } });
    expect(again).toMatchObject({ outcome: 'completed', attempt: 2 });
    const before = seen.length;
    const once = await gateway.agent.run('addPet', { body: { name: 'busy' } }, { retry: { backoffMs: 0 } });
    expect(once).toMatchObject({
      outcome: 'failed',
      error: { code: 'tool_failed', message: expect.stringContaining('→ 503 (Retry-After: 1)') },
    });
    expect(seen.length - before).toBe(1);
  });

  it('stays on the declared host of an API: other redirects are answers, and `..` is no path', async () => {
    expect(textOf(await gateway.agent.run('redirectAway', {}))).toContain('→ 302');
    const here = await gateway.agent.run('redirectHere', {});
    expect(textOf(here)).toContain('/v1/pets/1 → 200');
    const before = seen.length;
    expect(await gateway.agent.run('pets__getPet', { id: '..' })).toMatchObject({
      outcome: 'failed',
      error: { code: 'invalid_arguments' },
    });
    expect(seen.length).toBe(before);
    // The document names another server than its own, and secrets would go there.
    expect(await sourcesNow()).toContainEqual(expect.objectContaining({ name: 'elsewhere', tools: 0 }));
  });

  it('sends a token by OAuth client credentials, requested once, and the client secret to its issuer only', async () => {
    for (const id of ['1', '2']) expect((await gateway.agent.run('oauth__getPet', { id })).result?.isError).toBe(false);
    const [calls, tokens] = [
      seen.filter(({ headers }) => headers.authorization === 'Bearer issued'),
      seen.filter(({ url }) => url === '/token'),
    ];
    expect([calls.length, tokens.length]).toEqual([2, 1]);
    expect(tokens[0]?.headers.authorization).toBe(`Basic ${Buffer.from(`toolyard:${TOKEN}`).toString('base64')}`);
  });

  it.each(Object.entries(CREDENTIALS))(
    'sends requests to an API with its credentials, which no reader sees: %s',
    async (name, { sent }) => {
      const call = await gateway.agent.run(`${name}__getPet`, { id: name });
      expect(call.result?.isError).toBe(false);
      const { url, headers } = seen.at(-1) ?? {};
      expect([url, headers]).toEqual([`/v1/pets/${name}${sent.query ?? ''}`, expect.objectContaining(sent.headers ?? {})]);
      const shown = JSON.stringify([call, await sourcesNow(), await gateway.agent.events(call.id)]);
      for (const secret of [TOKEN, BASIC]) expect(shown).not.toContain(secret);
    },
  );

  it('stops at an answer of an API that is too large', async () => {
    expect(await gateway.agent.run('huge', {})).toMatchObject({
      outcome: 'failed',
      error: { code: 'tool_failed', message: expect.stringContaining('more than 8388608 bytes') },
    });
  });

  it('refuses an OpenAPI source of a key from files, private addresses or with unknown secrets [TS-29]', async () => {
    const add = (source: object) => gateway.agent.request<Problem>('POST', '/v1/sources', { kind: 'openapi', name: 'mine', ...source });
    const document = 'https://api.example.com/openapi.json';
    expect((await add({ path: '/etc/passwd' })).status).toBe(403);
    expect((await add({ document: 'http://169.254.169.254/openapi.json' })).status).toBe(403);
    expect((await add({ document, url: 'http://127.0.0.1/' })).status).toBe(403);
    expect((await add({ document, auth: { type: 'bearer', token: { secretEnv: 'REDIS_URL' } } })).status).toBe(403);
    expect((await add({ document, path: '/srv/api.json' })).status).toBe(422);
  });

  it('fails a source of a key, OpenAPI or MCP, whose name leads to a private address', async () => {
    let connections = 0;
    const trap = createTcpServer(() => (connections += 1)).listen(0);
    await once(trap, 'listening');
    const url = `http://localhost:${(trap.address() as AddressInfo).port}/`;
    const places = { 'by-document': { kind: 'openapi', document: url }, 'by-url': { kind: 'mcp', url } };
    for (const [name, place] of Object.entries(places)) {
      expect((await gateway.agent.request('POST', '/v1/sources', { name, ...place })).status).toBe(201);
      const failed = async () => (await sourcesNow()).find((source) => source.name === name)?.error;
      // Names are resolved and checked only on connection.
      expect(await eventually(failed, 'the worker to refuse it')).toContain('localhost resolves to a loopback address');
      expect((await gateway.agent.request('DELETE', `/v1/sources/${name}`)).status).toBeLessThan(300);
    }
    expect(connections).toBe(0);
    trap.close();
  });
});

async function answer(request: IncomingMessage, seen: Seen[]): Promise<{ status: number; headers: Record<string, string>; body: string }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method, url = '', headers } = request;
  const json = (value: unknown, status = 200, more = {}) => ({
    status,
    headers: { 'content-type': 'application/json', ...more },
    body: JSON.stringify(value),
  });
  if (url === '/openapi.json') return json(DOCUMENT);
  if (url === '/elsewhere.json') return json({ ...DOCUMENT, servers: [{ url: 'https://evil.example/' }] });
  const body = Buffer.concat(chunks).toString();
  const repeated = seen.some((it) => it.url === url && url.includes('busy'));
  seen.push({ method, url, headers, body });
  if (url === '/token') return json({ access_token: 'issued', token_type: 'Bearer', expires_in: 3_600 });
  const here = `http://${headers.host}`;
  if (url.endsWith('/none')) return json({ error: 'no such pet' }, 404);
  if ((url.endsWith('/busy') && !repeated) || body.includes('busy')) return json({ error: 'busy' }, 503, { 'retry-after': '1' });
  if (url.endsWith('/away')) return { status: 302, headers: { location: 'https://evil.example/' }, body: '' };
  if (url.endsWith('/here')) return { status: 302, headers: { location: '/v1/pets/1' }, body: '' };
  if (url.endsWith('/huge')) return { status: 200, headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(9_000_000) };
  if (url.includes('?'))
    return json([{ id: '1' }], 200, { link: `<${here}/v1/pets?page=2>; rel="next", <${here}/v1/pets?page=9>; rel="last"` });
  return json({ id: decodeURIComponent(url.split('/').at(-1) ?? ''), token: headers.authorization });
}

const operation = (operationId: string, more: object = {}) => ({ operationId, responses: { 200: { description: 'Done' } }, ...more });
const DOCUMENT = {
  openapi: '3.0.3',
  info: { title: 'Pets', version: '1' },
  servers: [{ url: '/v1' }],
  paths: {
    '/pets': {
      get: operation('listPets', {
        tags: ['reading'],
        parameters: [
          { name: 'tags', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'filter', in: 'query', style: 'deepObject', schema: { type: 'object' } },
          { name: 'page', in: 'query', schema: { type: 'integer' } },
        ],
      }),
      post: operation('addPet', {
        requestBody: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } },
      }),
    },
    '/pets/{id}': {
      parameters: [{ $ref: '#/components/parameters/Id' }],
      get: operation('getPet', { tags: ['reading'], summary: 'One pet' }),
    },
    '/away': { get: operation('redirectAway', { tags: ['reading'] }) },
    '/here': { get: operation('redirectHere', { tags: ['reading'] }) },
    '/huge': { get: operation('huge', { tags: ['reading'] }) },
  },
  components: {
    parameters: { Id: { name: 'id', in: 'path', required: true, schema: { type: 'string' } } },
    schemas: {
      Pet: {
        type: 'object',
        required: ['name', 'id'],
        properties: { id: { type: 'string', readOnly: true }, name: { type: 'string' }, tag: { type: 'string', nullable: true } },
      },
    },
  },
};
