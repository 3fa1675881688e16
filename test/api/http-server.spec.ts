import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { Problem, ROUTES, SCOPES, type CallPage } from '#contracts';
import type { Agent, Answer } from '../support/agent.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

describe('the HTTP server', () => {
  let tenant: Tenant;
  let rival: Tenant;
  let agent: Agent;
  beforeAll(async () => {
    const scopes = [...SCOPES];
    tenant = await useTenant('http-server', {
      keys: {
        expired: { scopes, expiresAt: '2020-01-01T00:00:00Z' },
        reader: { scopes: ['read'] },
        files: { scopes, tools: ['file_*'] },
        limited: { scopes, ratePerMinute: 3 },
      },
    });
    rival = await useTenant('http-server-rival');
    agent = tenant.agent;
  });
  afterAll(async () => {
    await rival?.close();
    await tenant?.close();
  });

  const isProblem = (answer: Answer, status: number, code: string) => {
    expect([answer.status, (answer.body as Problem).code]).toEqual([status, code]);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(Problem.parse(answer.body)).toMatchObject({
      type: `urn:toolyard:problem:${code}`,
      status,
      instance: expect.stringMatching(/^urn:toolyard:request:/),
    });
    return answer.body as Problem;
  };

  it.each([
    ['broken JSON', '{"tool": "echo", ', 400, 'malformed_json'],
    ['a 2 MB body', JSON.stringify({ tool: 'echo', arguments: { a: 'x'.repeat(2_000_000) } }), 413, 'payload_too_large'],
    ['JSON a thousand levels deep', `{"tool":"echo","arguments":{"a":${'['.repeat(1000)}${']'.repeat(1000)}}}`, 422, 'invalid_request'],
    ['more items than a body may have', `{"tool":"echo","arguments":{"a":[${'1,'.repeat(25_000)}1]}}`, 413, 'payload_too_large'],
    [
      'more members than arguments may have',
      JSON.stringify({ tool: 'echo', arguments: `{"a":[${'1,'.repeat(25_000)}1]}` }),
      422,
      'invalid_arguments',
    ],
    ['a __proto__ key', '{"tool":"echo","arguments":{"__proto__":{"admin":true}}}', 400, 'malformed_json'],
    ['a body that is no object', '[1]', 422, 'invalid_request'],
    ['no body', '', 422, 'invalid_request'],
    ['wrong types', '{"tool":7,"arguments":{}}', 422, 'invalid_request'],
    ['an unknown field', '{"tool":"echo","surprise":1}', 422, 'invalid_request'],
    ['a run limit above the maximum', '{"tool":"echo","timeouts":{"runMs":600001}}', 422, 'invalid_request'],
    ['a session id that is a path', '{"tool":"echo","sessionId":"../x"}', 422, 'invalid_request'],
    ['an unknown tool', '{"tool":"no_such_tool"}', 404, 'not_found'],
    ['arguments that are broken JSON', '{"tool":"echo","arguments":"{\\"a\\":"}', 422, 'invalid_arguments'],
  ])('answers a call with %s by a problem [VA-02]', async (_name, body, status, code) => {
    isProblem(await agent.request('POST', '/v1/calls', body), status, code);
  });

  it('answers a body that is not JSON by its media type with 415', async () => {
    const headers = { 'content-type': 'text/plain' };
    isProblem(await agent.request('POST', '/v1/calls', 'tool=echo', headers), 415, 'unsupported_media_type');
    isProblem(
      await agent.request('POST', '/v1/calls', 'tool=echo', { 'content-type': 'application/x-www-form-urlencoded' }),
      415,
      'unsupported_media_type',
    );
  });

  it('points at every fault of a request', async () => {
    const problem = isProblem(
      await agent.request('POST', '/v1/calls', { tool: '', priority: 'asap', labels: { a: 1 } }),
      422,
      'invalid_request',
    );
    expect(problem.errors?.map(({ pointer }) => pointer).sort()).toEqual(['/labels/a', '/priority', '/tool']);
    isProblem(await agent.get('/v1/calls?limit=1000&colour=red'), 422, 'invalid_request');
    isProblem(await agent.submit('echo', {}, {}, { 'idempotency-key': 'has a space' }), 422, 'invalid_request');
    isProblem(await agent.get('/v1/calls?cursor=garbage'), 422, 'invalid_request');
  });

  it('distinguishes a wrong path from a wrong method', async () => {
    isProblem(await agent.get('/v1/nothing'), 404, 'resource_not_found');
    isProblem(await agent.get('/v1/calls/not-an-id'), 404, 'resource_not_found');
    isProblem(await agent.get('/v1/calls/00-01JZ8C5W3Q4X9R7T2M6K8N0P1V'), 404, 'resource_not_found');
    isProblem(await agent.get('/v1/calls/%zz'), 422, 'invalid_request');
    isProblem(await agent.get(`/v1/calls/${'x'.repeat(5000)}`), 404, 'resource_not_found');
    const wrongMethod = await agent.request('PUT', '/v1/calls', {});
    isProblem(wrongMethod, 405, 'method_not_allowed');
    expect(wrongMethod.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD', 'POST']);
  });

  it('explains the WebSocket stream to plain requests and to clients behind a proxy without upgrades', async () => {
    const answer = await agent.get('/v1/stream');
    expect(isProblem(answer, 426, 'upgrade_required').detail).toContain('proxies');
    expect(answer.headers.get('upgrade')).toBe('websocket');
  });

  it('answers bytes that are not HTTP with a problem, and accepts ids up to the documented length', async () => {
    expect(await raw(tenant.url, 'nonsense\r\n\r\n')).toMatch(
      /^HTTP\/1.1 400 [\s\S]*application\/problem\+json[\s\S]*"code":"invalid_request"/,
    );
    expect(await raw(tenant.url, `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 431 [\s\S]*"status":431/,
    );
    expect((await agent.get(`/v1/sessions/${'s'.repeat(128)}`)).status).toBe(200);
  });

  it.each([
    ['HTTP/2', '/livez', 'h2c', /HTTP\/1\.1/],
    ['a WebSocket elsewhere', '/v1/calls', 'websocket', /\/v1\/stream/],
    ['a WebSocket of no version', '/v1/stream', 'websocket', /Sec-WebSocket/],
  ])('answers who asks for an upgrade to %s with a problem', async (_what, path, upgrade, says) => {
    const answer = await raw(tenant.url, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 400 [\s\S]*application\/problem\+json[\s\S]*"code":"invalid_request"/);
    expect(answer).toMatch(says);
  });

  describe('keys', () => {
    it.each([
      ['no key', () => ({})],
      ['an unknown key', () => ({ authorization: 'Bearer who-is-this' })],
      ['an expired key', () => ({ authorization: `Bearer ${tenant.keyOf('expired')}` })],
      ['another scheme', () => ({ authorization: `Basic ${Buffer.from(`x:${agent.key}`).toString('base64')}` })],
    ])('answers 401 with a challenge to %s', async (_name, headersOf: () => Record<string, string>) => {
      const response = await fetch(`${tenant.url}/v1/calls`, { headers: headersOf() });
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Bearer/)]);
      expect(await response.json()).toMatchObject({ code: 'unauthenticated' });
    });

    it('answers 403 to a key without the scope', async () => {
      isProblem(await tenant.agentOf('reader').submit('echo', {}), 403, 'forbidden');
      isProblem(await tenant.agentOf('reader').request('PUT', '/v1/sessions/x', { posture: {} }), 403, 'forbidden');
      expect((await tenant.agentOf('reader').get('/v1/calls')).status).toBe(200);
    });

    it('shows and runs only the tools that the patterns of a key match', async () => {
      const problem = isProblem(await tenant.agentOf('files').submit('echo', {}), 403, 'policy_denied');
      expect(problem.result?.isError).toBe(true);
      const { body } = await tenant.agentOf('files').get<{ tools: { name: string }[] }>('/v1/tools');
      expect(body.tools.every(({ name }) => name.startsWith('file_'))).toBe(true);
    });

    it('hides everything of a tenant from a key of another one', async () => {
      const { body: call } = await agent.submit('echo', { secret: 1 });
      const other = rival.agent;
      for (const path of ['', '?wait=1', '/events', '/output'])
        isProblem(await other.get(`/v1/calls/${call.id}${path}`), 404, 'resource_not_found');
      for (const [path, body] of [
        ['/cancel', {}],
        ['/replay', {}],
        ['/decision', { decision: 'allow' }],
      ] as const) {
        isProblem(await other.request('POST', `/v1/calls/${call.id}${path}`, body), 404, 'resource_not_found');
      }
      expect((await other.get<CallPage>('/v1/calls')).body.calls).toEqual([]);
      const again = await other.submit('echo', {}, {}, { 'idempotency-key': 'shared-name' });
      expect((await agent.submit('echo', { x: 1 }, {}, { 'idempotency-key': 'shared-name' })).body.id).not.toBe(again.body.id);
    });

    it('reports the remaining rate of a limited key, and when to retry', async () => {
      const answers = [];
      for (let n = 0; n < 4; n++) answers.push(await tenant.agentOf('limited').get('/v1/tools'));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
      expect(answers.map(({ headers }) => headers.get('ratelimit')?.replace(/t=\d+/, 't=n'))).toEqual(
        [2, 1, 0, 0].map((left) => `"requests";r=${left};t=n`),
      );
      expect(answers[0]?.headers.get('ratelimit-policy')).toBe('"requests";q=3;w=60');
      expect(Number(answers[3]?.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answers[3]?.body).toMatchObject({ code: 'too_many_requests' });
      expect((await agent.get('/v1/tools')).headers.get('ratelimit')).toBeNull();
    });
  });

  describe('browsers of strangers', () => {
    it('refuses a browser under a name that is not this host, even without a key', async () => {
      for (const path of ['/v1/tools', '/livez', '/']) {
        expect(await rawGet(tenant.url, path, { Host: 'rebound.example' })).toMatch(/^HTTP\/1.1 403 [\s\S]*"code":"origin_refused"/);
      }
      expect(await rawGet(tenant.url, '/livez', { Host: 'localhost:1' })).toMatch(/^HTTP\/1.1 200 /);
    });

    it('refuses a browser from another origin, unless it was allowed', async () => {
      const from = (origin: string) => agent.get('/v1/tools', { origin });
      isProblem(await from('https://evil.example'), 403, 'origin_refused');
      isProblem(await from('null'), 403, 'origin_refused');
      expect((await from(tenant.url)).status).toBe(200);
      const allowed = await from('https://dash.example');
      expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([200, 'https://dash.example']);
      expect(allowed.headers.get('access-control-expose-headers')).toMatch(/Mcp-Session-Id.*WWW-Authenticate/);
      const ask = { origin: 'https://dash.example', 'access-control-request-method': 'DELETE' };
      const { headers } = await agent.request('OPTIONS', '/mcp', undefined, ask);
      expect(headers.get('access-control-allow-methods')).toContain('DELETE');
    });

    it('sends headers that keep a page from framing, sniffing or storing answers', async () => {
      const { headers } = await agent.get('/v1/tools');
      expect([headers.get('x-content-type-options'), headers.get('x-frame-options'), headers.get('cache-control')]).toEqual([
        'nosniff',
        'DENY',
        'no-store',
      ]);
    });
  });

  describe('for operators', () => {
    it('shows health, readiness and metrics to operators without a key', async () => {
      for (const path of ['/livez', '/readyz']) expect(await (await fetch(tenant.url + path)).json()).toEqual({ status: 'ok' });
      const metrics = await fetch(`${tenant.url}/metrics`);
      expect([metrics.status, metrics.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/plain')]);
      expect(await metrics.text()).toMatch(/^toolyard_/m);
    });

    it('shows queues and workers to operators', async () => {
      expect((await agent.get<{ queues: unknown[] }>('/v1/queues')).body.queues).toHaveLength(5);
      expect((await agent.get<{ workers: unknown[] }>('/v1/workers')).body.workers).toEqual(expect.any(Array));
    });

    it('serves the API documents without a key', async () => {
      for (const path of ['/docs', '/openapi.json', '/asyncapi.json'])
        expect([path, (await fetch(tenant.url + path)).status]).toEqual([path, 200]);
    });

    it.each(['/docs', '/docs/submitCall', '/docs/stream'])('serves %s with all files it names, and blocks all others', async (path) => {
      const page = await fetch(tenant.url + path, { headers: { accept: 'text/html' } });
      expect(page.headers.get('content-security-policy')).toMatch(/^default-src '(self|none)'/);
      const text = await page.text();
      const files = [...text.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, file]) => new URL(file ?? '', page.url).href);
      expect(files.length).toBeGreaterThan(2);
      for (const url of files) expect([url, (await fetch(url)).status]).toEqual([url, 200]);
    });

    it('serves the same OpenAPI document as JSON and as YAML', async () => {
      const [json, yaml] = await Promise.all(['json', 'yaml'].map(async (type) => (await fetch(`${tenant.url}/openapi.${type}`)).text()));
      expect(parse(yaml ?? '')).toEqual(JSON.parse(json ?? ''));
    });
  });

  it.each(['full', 'mcp', 'anthropic', 'openai'])('lists tools in the format %s, and by search [CC-07, CN-03]', async (format) => {
    const { body } = await agent.get<{ tools: Record<string, unknown>[] }>(`/v1/tools?format=${format}&q=echo`);
    const names = body.tools.map((tool) => tool['name'] ?? (tool['function'] as { name: string }).name);
    expect(names).toContain('echo');
    expect((await agent.get<{ tools: unknown[] }>(`/v1/tools?format=${format}&q=zzzzzz`)).body.tools).toEqual([]);
    isProblem(await agent.get('/v1/tools?format=xml'), 422, 'invalid_request');
  });

  it('lists tools with the required permission of each, also in the names of a dialect [CC-06]', async () => {
    const { body } = await agent.get<{ tools: Record<string, unknown>[] }>('/v1/tools?format=permissions&dialect=claude-code');
    const listed = body.tools.filter(({ name }) => ['bash', 'read_file', 'write_file'].includes(String(name)));
    expect(listed.map((tool) => [Object.keys(tool).sort().join(), tool['name'], tool['required_permission']])).toEqual(
      [
        ['bash', 'danger-full-access'],
        ['read_file', 'read-only'],
        ['write_file', 'workspace-write'],
      ].map((expected) => ['description,input_schema,name,required_permission', ...expected]),
    );
    expect(body.tools.every((tool) => 'required_permission' in tool)).toBe(true);
  });

  it('serves every documented route', async () => {
    for (const { method, path } of Object.values(ROUTES)) {
      const url = path.replace('{id}', path.includes('sessions') ? 'routes' : '00-01JZ8C5W3Q4X9R7T2M6K8N0P1V');
      if (path === '/v1/events') continue;
      const { status, body } = await agent.request<Partial<Problem>>(method.toUpperCase(), url, method === 'get' ? undefined : {});
      const isUnserved =
        status === 405 || (status === 501 && body.detail?.startsWith('Sign-in with a provider is not configured') !== true);
      expect([method, path, isUnserved, body.detail === 'No such route']).toEqual([method, path, false, false]);
    }
  });
});

/** fetch does not let a program choose its Host. */
function rawGet(url: string, path: string, headers: Record<string, string>): Promise<string> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return raw(url, `GET ${path} HTTP/1.1\r\n${lines.join('')}Connection: close\r\n\r\n`);
}

function raw(url: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (data) => (answer += String(data)));
    socket.on('end', () => resolve(answer));
    socket.on('error', reject);
  });
}
