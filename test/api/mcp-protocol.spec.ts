import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallPage, WorkerTool } from '#contracts';
import { Agent, type Answer } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { ScriptedWorker } from '../support/foreign-worker.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';
import { mcpListen } from '../support/mcp-listen.js';

const REVISION = '2026-07-28';
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const FORMS = { elicitation: {} };

interface Reply {
  readonly jsonrpc: '2.0';
  readonly id: number | string | null;
  readonly result?: Record<string, unknown> & { readonly content?: { readonly text: string }[]; readonly _meta?: Record<string, unknown> };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}
interface Ask {
  readonly capabilities?: object;
  readonly meta?: object;
  readonly headers?: Record<string, string>;
  readonly by?: Agent;
}

const toolOf = (name: string, schema: object = {}): WorkerTool => ({
  name,
  description: 'For tests.',
  input: { type: 'object', ...schema },
  tier: 'read_only',
  effect: 'pure',
});
const REGIONAL = toolOf('regional', { properties: { region: { type: 'string', 'x-mcp-header': 'Region' } }, required: ['region'] });
/** 300 tools, so that a list has pages. */
const MANY = Array.from({ length: 300 }, (_unused, index) => toolOf(`many_${String(index).padStart(3, '0')}`));

describe('/mcp in the protocol itself', () => {
  let tenant: Tenant;
  let stranger: Tenant;
  let worker: ScriptedWorker;
  beforeAll(async () => {
    tenant = await useTenant('mcp-protocol', {
      keys: { reader: { scopes: ['read'] }, neighbour: { scopes: ['submit', 'read', 'cancel', 'approve'] } },
      held: true,
      sources: [{ kind: 'worker', name: 'many', trust: true }],
      settings: {
        posture: { autonomy: 'full', permissionMode: 'workspace-write' },
        // Calls of it require approval.
        policy: { toolsSettings: { held_write: { tier: 'privileged' } } },
      },
    });
    stranger = await useTenant('mcp-protocol-stranger');
    worker = await ScriptedWorker.ready(tenant.url, tenant.keyOf('main'), 'many', [...MANY, REGIONAL], 0);
  });
  afterAll(async () => {
    worker?.close();
    await tenant?.close();
    await stranger?.close();
  });

  const post = (body: unknown, headers: Record<string, string>, { by = tenant.agent }: Ask = {}): Promise<Answer<Reply>> =>
    by.request<Reply>('POST', '/mcp', body, { accept: 'application/json, text/event-stream', ...headers });

  /** A request of revision 2026-07-28 with all that it must have, and what `ask` changes of it. */
  const modern = (method: string, params: Record<string, unknown> = {}, ask: Ask = {}): Promise<Answer<Reply>> => {
    const name = params['name'] ?? params['taskId'] ?? params['uri'];
    const headers = {
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
      ...ask.headers,
    };
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': REVISION,
      'io.modelcontextprotocol/clientCapabilities': ask.capabilities ?? {},
      ...ask.meta,
    };
    return post({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, headers, ask);
  };
  const callIn = (sessionId: string, status = 'queued') =>
    eventually(async () => {
      const { body } = await tenant.agent.get<CallPage>(`/v1/calls?sessionId=${sessionId}&status=${status}`);
      return body.calls[0];
    }, `a call in the session ${sessionId}`);
  const listen = (notifications: object, capabilities: object) =>
    mcpListen({ url: tenant.otherUrl, key: tenant.keyOf('main'), notifications, capabilities });
  const inSession = (sessionId: string) => ({ 'io.toolyard/sessionId': sessionId });
  const held = (command: string) => ({ name: 'held_write', arguments: { command } });

  describe('revision 2026-07-28', () => {
    it('answers server/discover with its capabilities, extensions and instructions', async () => {
      const { status, body } = await modern('server/discover');
      expect(status).toBe(200);
      expect(body.result).toMatchObject({
        resultType: 'complete',
        supportedVersions: [REVISION],
        capabilities: { tools: { listChanged: true }, resources: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
        instructions: expect.stringContaining('call_result'),
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'toolyard' } },
      });
    });

    it('lists tools by private pages with a lifetime that continue after a name', async () => {
      const first = (await modern('tools/list')).body.result as { tools: { name: string }[]; nextCursor: string };
      expect(first).toMatchObject({ resultType: 'complete', cacheScope: 'private', ttlMs: expect.any(Number) });
      const second = (await modern('tools/list', { cursor: first.nextCursor })).body.result as typeof first;
      const names = [...first.tools, ...second.tools].map(({ name }) => name);
      expect(names).toEqual([...new Set(names)].sort());
      expect(names).toEqual(expect.arrayContaining(['many_000', 'many_299', 'web_fetch']));
      expect(second.nextCursor).toBeUndefined();
      expect((await modern('tools/list', { cursor: '' })).body.result).toEqual(first);
      expect((await modern('tools/list', { cursor: '???' })).body.error?.code).toBe(-32_602);
    });

    it.each([
      ['without MCP-Protocol-Version', { 'mcp-protocol-version': undefined }],
      ['without Mcp-Method', { 'mcp-method': undefined }],
      ['without Mcp-Name', { 'mcp-name': undefined }],
      ['with another version than the body', { 'mcp-protocol-version': '2025-11-25' }],
      ['with another method than the body', { 'mcp-method': 'tools/list' }],
      ['with another name than the body', { 'mcp-name': 'shell' }],
      ['with a name that is no Base64', { 'mcp-name': '=?base64?*?=' }],
    ])('refuses an MCP request %s with 400 and -32020', async (_what, change) => {
      const headers = Object.fromEntries(
        Object.entries({ 'mcp-protocol-version': REVISION, 'mcp-method': 'tools/call', 'mcp-name': 'held', ...change }).flatMap(
          ([name, value]) => (value === undefined ? [] : [[name, value]]),
        ),
      );
      const _meta = { 'io.modelcontextprotocol/protocolVersion': REVISION, 'io.modelcontextprotocol/clientCapabilities': {} };
      const body = { jsonrpc: '2.0', id: 9, method: 'tools/call', params: { name: 'held', arguments: {}, _meta } };
      const answer = await post(body, headers);
      expect([answer.status, answer.body.error?.code, answer.body.id]).toEqual([400, -32_020, 9]);
    });

    it('refuses an MCP call whose mirrored parameter is missing or different in the headers', async () => {
      const regionIs = (value: string): Record<string, string> => ({ 'mcp-param-region': value });
      const call = (region: string, headers: Record<string, string>) =>
        modern('tools/call', { name: 'regional', arguments: { region } }, { headers, capabilities: TASKS });
      for (const headers of [undefined, 'us', '=?base64?ZX?='].map((region) => (region === undefined ? {} : regionIs(region)))) {
        const { status, body } = await call('eu', headers);
        expect([status, body.error?.code]).toEqual([400, -32_020]);
      }
      for (const value of ['eu', '=?base64?ZXU=?=']) expect((await call('eu', regionIs(value))).status).toBe(200);
    });

    it('decodes a name in Base64 before it compares', async () => {
      const name = `=?base64?${Buffer.from('no_such').toString('base64')}?=`;
      const { body } = await modern('tools/call', { name: 'no_such' }, { headers: { 'mcp-name': name } });
      expect(body.error).toMatchObject({ code: -32_602, message: 'Unknown tool: no_such' });
    });

    it('answers an unknown version with -32022, missing _meta with -32602, an unknown method with 404 and -32601', async () => {
      const meta = { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
      const unknown = await modern('tools/list', {}, { meta, headers: { 'mcp-protocol-version': '2099-01-01' } });
      expect([unknown.status, unknown.body.error?.code]).toEqual([400, -32_022]);
      expect(unknown.body.error?.data).toMatchObject({ supported: [REVISION] });
      const headers = { 'mcp-protocol-version': REVISION, 'mcp-method': 'tools/list' };
      const bare = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers);
      expect([bare.status, bare.body.error?.code]).toEqual([400, -32_602]);
      const other = await modern('tools/sell');
      expect([other.status, other.body.error?.code]).toEqual([404, -32_601]);
    });

    it('returns a type error of arguments to the model, without a call', async () => {
      const { body } = await modern('tools/call', { name: 'sleep', arguments: { ms: 'long' } });
      expect(body.result).toMatchObject({
        resultType: 'complete',
        isError: true,
        _meta: { 'io.toolyard/error': { code: 'invalid_arguments' } },
      });
      expect(body.result?.content?.[0]?.text).toContain('ms');
    });

    it('cancels an MCP call when the response is closed, if the key may cancel', async () => {
      const gone = new AbortController();
      const { 'io.toolyard/sessionId': sessionId, ...meta } = { ...inSession('closed'), progressToken: 'p' };
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': REVISION,
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.toolyard/sessionId': sessionId,
        ...meta,
      };
      const answering = fetch(`${tenant.url}/mcp`, {
        method: 'POST',
        signal: gone.signal,
        headers: {
          authorization: `Bearer ${tenant.keyOf('main')}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': REVISION,
          'mcp-method': 'tools/call',
          'mcp-name': 'held',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'held', arguments: {}, _meta } }),
      });
      const { id } = await callIn('closed');
      gone.abort();
      await expect(answering.then((response) => response.text())).rejects.toThrow(/abort/i);
      expect((await tenant.other.ended(id)).outcome).toBe('cancelled');
    });

    it('acknowledges a subscription to list changes as the first message of its stream', async () => {
      const stream = await listen({ toolsListChanged: true }, {});
      expect(stream.headers.get('x-accel-buffering')).toBe('no');
      expect(await stream.next()).toMatchObject({
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { toolsListChanged: true }, _meta: { 'io.modelcontextprotocol/subscriptionId': 'listening' } },
      });
      await stream.close();
    });
  });

  describe('approval by input_required', () => {
    const ask = async (sessionId: string, command = 'make deploy') => {
      const { body } = await modern('tools/call', held(command), { capabilities: FORMS, meta: inSession(sessionId) });
      return { body, requestState: String(body.result?.['requestState']), id: (await callIn(sessionId, 'waiting_approval')).id };
    };
    const accept = { approval: { action: 'accept', content: { approve: true } } };
    const retry = (requestState: string, more: Ask = {}, command = 'make deploy', inputResponses: object = accept) =>
      modern('tools/call', { ...held(command), requestState, inputResponses }, { capabilities: FORMS, ...more });

    it('asks for approval over /mcp with a form, whose state any gateway accepts', async () => {
      const { body, requestState, id } = await ask('form');
      expect(body.result).toMatchObject({
        resultType: 'input_required',
        inputRequests: {
          approval: {
            method: 'elicitation/create',
            params: { mode: 'form', requestedSchema: { properties: { approve: { type: 'boolean' } }, required: ['approve'] } },
          },
        },
      });
      const answering = retry(requestState, { by: tenant.other });
      await eventually(async () => (await tenant.agent.get(`/v1/calls/${id}`)).body.status === 'queued', 'the approval');
      await tenant.held.run(id, 'deployed');
      expect((await answering).body.result).toMatchObject({ resultType: 'complete', content: [{ type: 'text', text: 'deployed' }] });
    });

    it('runs nothing again for a repeated state of an MCP approval', async () => {
      const { requestState, id } = await ask('replayed');
      const [first, second] = [retry(requestState), retry(requestState, { by: tenant.other })];
      await eventually(async () => (await tenant.agent.get(`/v1/calls/${id}`)).body.status === 'queued', 'the approval');
      await tenant.held.run(id, 'once');
      for (const { body } of [await first, await second, await retry(requestState)])
        expect(body.result).toMatchObject({ content: [{ text: 'once' }], _meta: { 'io.toolyard/callId': id } });
      const { body } = await tenant.agent.get<CallPage>('/v1/calls?sessionId=replayed');
      expect(body.calls.map((call) => call.id)).toEqual([id]);
    });

    it('refuses an MCP approval state of another key, of other arguments, a changed or an invalid one', async () => {
      const { requestState, id } = await ask('forged');
      // Changes the character before the last one, two bits of which are not part of the signature.
      const flipped = requestState.replace(/.(?=.$)/, (bits) => (bits === 'A' ? 'B' : 'A'));
      for (const answer of [
        await retry(requestState, { by: tenant.agentOf('neighbour') }),
        await retry(requestState, { by: stranger.agent }),
        await retry(requestState, {}, 'rm -r /'),
        await retry(flipped),
        await retry('state'),
      ])
        expect(answer.body.error?.code).toBe(-32_602);
      expect((await tenant.agent.get(`/v1/calls/${id}`)).body.status).toBe('waiting_approval');
    });

    it('asks for approval over /mcp again without an answer, and explains how to approve after a dismissed form', async () => {
      const { requestState, id } = await ask('again');
      expect((await retry(requestState, {}, 'make deploy', {})).body.result?.['resultType']).toBe('input_required');
      const { body } = await retry(requestState, {}, 'make deploy', { approval: { action: 'cancel' } });
      expect(body.result).toMatchObject({ isError: true, _meta: { 'io.toolyard/status': 'waiting_approval' } });
      expect(body.result?.content?.[0]?.text).toContain(`POST /v1/calls/${id}/decision`);
    });

    it('reads an approval form without a yes as a denial', async () => {
      const { requestState } = await ask('no');
      const { body } = await retry(requestState, {}, 'make deploy', { approval: { action: 'accept', content: { approve: false } } });
      expect(body.result).toMatchObject({ isError: true, _meta: { 'io.toolyard/outcome': 'denied' } });
    });
  });

  describe('tasks', () => {
    const task = (method: string, taskId: string, more: Ask = {}, params: object = {}) =>
      modern(`tasks/${method}`, { taskId, ...params }, { capabilities: TASKS, ...more });

    it('answers MCP tasks at any gateway like the calls themselves, with the result in the task', async () => {
      const { body } = await modern('tools/call', { name: 'held', arguments: {} }, { capabilities: TASKS, meta: inSession('task') });
      const { id } = await callIn('task');
      expect(body.result).toMatchObject({ resultType: 'task', taskId: id, status: 'working', ttlMs: null });
      expect((await task('get', id, { by: tenant.other })).body.result).toMatchObject({ resultType: 'complete', status: 'working' });
      await tenant.held.run(id, 'finished');
      expect((await task('get', id, { by: tenant.other })).body.result).toMatchObject({
        status: 'completed',
        result: { resultType: 'complete', content: [{ type: 'text', text: 'finished' }], isError: false },
      });
    });

    it('cancels an MCP task by tasks/cancel', async () => {
      await modern('tools/call', { name: 'held', arguments: {} }, { capabilities: TASKS, meta: inSession('task-cancel') });
      const { id } = await callIn('task-cancel');
      expect((await task('cancel', id, { by: tenant.other })).body.result).toMatchObject({ resultType: 'complete' });
      expect((await task('get', id)).body.result).toMatchObject({ status: 'cancelled' });
    });

    it('reports each status of MCP tasks as tasks/get answers it, and ends the stream with the last of them', async () => {
      const capabilities = { ...TASKS, ...FORMS };
      const { body } = await modern('tools/call', { name: 'held', arguments: {} }, { capabilities, meta: inSession('task-listen') });
      const taskId = String(body.result?.['taskId']);
      const others = await modern('tools/call', { name: 'held', arguments: {} }, { capabilities, by: tenant.agentOf('neighbour') });
      const stream = await listen({ taskIds: [taskId, String(others.body.result?.['taskId']), 'none', taskId] }, capabilities);
      const _meta = { 'io.modelcontextprotocol/subscriptionId': 'listening' };
      expect(await stream.next()).toMatchObject({
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { taskIds: [taskId] }, _meta },
      });
      const isNow = async (status: string) => {
        const { resultType: _type, _meta: _server, ...now } = (await task('get', taskId, { capabilities })).body.result ?? {};
        expect(await stream.next()).toEqual({ jsonrpc: '2.0', method: 'notifications/tasks', params: { ...now, _meta } });
        expect(now['status']).toBe(status);
      };
      await isNow('working');
      const attempt = await tenant.held.claim(taskId);
      await isNow('working');
      await attempt.requestInput({ prompt: 'Which?', inputSchema: { type: 'string' } });
      await isNow('input_required');
      await modern('tasks/cancel', { taskId }, { capabilities });
      await isNow('cancelled');
      expect(await stream.next()).toMatchObject({ id: 'listening', result: { resultType: 'complete', _meta } });
      expect(await stream.next()).toBeUndefined();
    });

    it('refuses to report MCP tasks without the capability, or too many at once', async () => {
      expect((await listen({ taskIds: ['x'] }, {})).status).toBe(400);
      const refused = await modern('subscriptions/listen', { notifications: { taskIds: ['x'] } });
      expect(refused.body.error).toMatchObject({ code: -32_021, data: { requiredCapabilities: TASKS } });
      const many = Array.from({ length: 101 }, (_unused, index) => `t${index}`);
      for (const taskIds of [many, 'x', [1]])
        expect((await modern('subscriptions/listen', { notifications: { taskIds } }, { capabilities: TASKS })).body.error?.code).toBe(
          -32_602,
        );
    });

    it('asks for approval of an MCP task as input_required, and accepts the answer by tasks/update', async () => {
      const capabilities = { ...TASKS, ...FORMS };
      const { body } = await modern('tools/call', held('make'), { capabilities, meta: inSession('task-approve') });
      const taskId = String(body.result?.['taskId']);
      expect(body.result).toMatchObject({ resultType: 'task', status: 'input_required' });
      expect((await task('get', taskId)).body.result).toMatchObject({
        status: 'working',
        statusMessage: expect.stringContaining('approval'),
      });
      const asked = (await task('get', taskId, { capabilities })).body.result;
      expect(asked).toMatchObject({ status: 'input_required', inputRequests: { approval: { method: 'elicitation/create' } } });
      const inputResponses = { approval: { action: 'accept', content: { approve: true } }, other: { action: 'accept' } };
      for (const by of [tenant.agent, tenant.other])
        expect((await task('update', taskId, { by }, { inputResponses })).body.result).toBeDefined();
      await tenant.held.run(taskId, 'made');
      expect((await task('get', taskId)).body.result).toMatchObject({ status: 'completed', result: { content: [{ text: 'made' }] } });
    });

    it('asks for the input of an MCP task’s tool as input_required, and accepts it by tasks/update at any gateway', async () => {
      const capabilities = { ...TASKS, ...FORMS };
      await modern('tools/call', { name: 'held', arguments: {} }, { capabilities, meta: inSession('task-input') });
      const { id: taskId } = await callIn('task-input');
      await (await tenant.held.claim(taskId)).requestInput({ prompt: 'Which?', inputSchema: { type: 'string' } });
      expect((await task('get', taskId)).body.result).toMatchObject({ status: 'working', statusMessage: 'Waits for input: Which?' });
      const asked = (await task('get', taskId, { capabilities })).body.result;
      expect(asked).toMatchObject({ status: 'input_required', inputRequests: { 'input.1': { method: 'elicitation/create' } } });
      const update = (content: object, more: object) =>
        task('update', taskId, { capabilities, ...more }, { inputResponses: { 'input.1': { action: 'accept', content } } });
      expect((await update({ value: 5 }, {})).body.result).toBeUndefined();
      expect((await task('get', taskId, { capabilities })).body.result).toMatchObject({ status: 'input_required' });
      for (const by of [tenant.agent, tenant.other]) expect((await update({ value: 'next' }, { by })).body.result).toBeDefined();
      await tenant.held.run(taskId, 'made');
      expect((await task('get', taskId)).body.result).toMatchObject({ status: 'completed', result: { content: [{ text: 'made' }] } });
    });

    it('hides MCP tasks from another key or tenant, and answers -32021 to a client without the capability', async () => {
      await modern('tools/call', { name: 'held', arguments: {} }, { capabilities: TASKS, meta: inSession('task-of') });
      const { id } = await callIn('task-of');
      for (const method of ['get', 'update', 'cancel']) {
        for (const by of [tenant.agentOf('neighbour'), stranger.agent])
          expect((await task(method, id, { by })).body.error).toMatchObject({ code: -32_602, message: 'Task not found' });
        const without = await task(method, id, { capabilities: {} });
        expect([without.status, without.body.error?.code]).toEqual([400, -32_021]);
      }
      expect((await task('get', '../etc')).body.error?.code).toBe(-32_602);
      await task('cancel', id);
    });
  });

  describe('hostile and broken requests', () => {
    it('answers /mcp without a key with 401 and the public metadata of the resource', async () => {
      const answer = await new Agent(tenant.url, 'wrong').request('POST', '/mcp', {});
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
      const without = await fetch(`${tenant.url}/mcp`, { method: 'POST' });
      expect(without.headers.get('www-authenticate')).not.toContain('error=');
      const url = /resource_metadata="([^"]+)"/.exec(answer.headers.get('www-authenticate') ?? '')?.[1] ?? '';
      expect(await (await fetch(url)).json()).toMatchObject({
        resource: `${tenant.url}/mcp`,
        bearer_methods_supported: ['header'],
        scopes_supported: expect.arrayContaining(['submit', 'read']),
      });
    });

    it('answers 403 with the scope submit to an MCP tool call of a key that lacks it', async () => {
      const answer = await modern('tools/call', { name: 'held', arguments: {} }, { by: tenant.agentOf('reader') });
      expect(answer.status).toBe(403);
      expect(answer.headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="submit"');
      expect((await modern('tools/list', {}, { by: tenant.agentOf('reader') })).status).toBe(200);
    });

    it.each([
      ['JSON that is none', '{"jsonrpc":', 400, -32_700],
      ['a text', '"tools/list"', 400, -32_600],
      ['nothing', '', 400, -32_600],
      ['no JSON-RPC', '{"method":1}', 400, -32_600],
      ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400, -32_600],
    ])('answers a broken request to /mcp with its error: %s', async (_what, body, status, code) => {
      const answer = await post(body, { 'content-type': 'application/json' });
      expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
    });

    it('answers /mcp with 403 to a foreign page, 413 to a giant body, 415 to another media type', async () => {
      expect((await modern('tools/list', {}, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
      expect((await modern('tools/call', { name: 'held', arguments: { text: 'x'.repeat(2_000_000) } })).status).toBe(413);
      expect((await post('x', { 'content-type': 'text/plain' })).status).toBe(415);
    });

    it('reads no output of another key over /mcp', async () => {
      const uri = 'toolyard://calls/00-01JZ8C5W3Q4X9R7T2M6K8N0P1V/output';
      for (const wrong of [uri, 'file:///etc/passwd', 'toolyard://calls/../output'])
        expect((await modern('resources/read', { uri: wrong })).body.error?.code).toBe(-32_602);
    });
  });
});
