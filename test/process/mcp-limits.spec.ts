import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallPage } from '#contracts';
import { EventHub } from '#event-log';
import { ApiKeyStore } from '../../apps/gateway/src/auth/api-key-store.service.js';
import { McpSessions } from '../../apps/gateway/src/mcp/endpoints/mcp-sessions.service.js';
import { ToolCatalog } from '../../apps/gateway/src/calls/tool-catalog.service.js';
import { Agent, type Answer } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';

const TENANT = 'mcp-limits';
const REVISION = '2026-07-28';
const META = { 'io.modelcontextprotocol/protocolVersion': REVISION, 'io.modelcontextprotocol/clientCapabilities': {} };
const ACCEPT = { accept: 'application/json, text/event-stream' };

interface Reply {
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

describe('what one client can take of the MCP endpoint', () => {
  let gateway: TestGateway;
  const hub = () => gateway.app.get(EventHub).counts;

  beforeAll(async () => {
    const change = {
      keys: [{ id: 'all', key: BOOTSTRAP_KEY, tenant: TENANT, scopes: ['submit', 'read', 'cancel'] }] as never,
      sockets: { perKey: 2, perTenant: 100, perAddress: 100, unauthenticated: 10 },
      mcp: { answerMs: 20_000, taskMs: 0 },
    };
    gateway = await startTestGateway(TENANT, { ...change, lists: true });
  });
  afterAll(() => gateway.close());

  const headersOf = (method: string, name?: string) => ({
    ...ACCEPT,
    'mcp-protocol-version': REVISION,
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  });
  const modern = (
    method: string,
    params: Record<string, unknown>,
    { id = 1, meta = {} }: { id?: number | string; meta?: object } = {},
  ): Promise<Answer<Reply>> => {
    const { name } = params;
    const body = { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...META, ...meta } } };
    return gateway.agent.request<Reply>('POST', '/mcp', body, headersOf(method, typeof name === 'string' ? name : undefined));
  };
  /** Sends a message and leaves the response open, until the returned function closes it. */
  const open = (body: object, headers: Record<string, string>) => {
    const gone = new AbortController();
    const response = fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      signal: gone.signal,
      headers: { authorization: `Bearer ${BOOTSTRAP_KEY}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    response.catch(() => {});
    return () => gone.abort();
  };
  const follow = (callId: string) =>
    open(
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'call_result', arguments: { callId }, _meta: { ...META, progressToken: 1 } },
      },
      headersOf('tools/call', 'call_result'),
    );
  const openSession = async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    const { headers } = await gateway.agent.request('POST', '/mcp', { jsonrpc: '2.0', id: 0, method: 'initialize', params }, ACCEPT);
    return { ...ACCEPT, 'mcp-session-id': headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' };
  };
  const submitted = async () => (await gateway.agent.submit('echo', {})).body.id;
  const followers = (count: number) => eventually(() => hub().subscriptions === count, `${count} followers`);

  it('counts an MCP answer with progress as an open stream of the key', async () => {
    const callId = await submitted();
    const closing = [follow(callId), follow(callId)];
    await followers(2);
    const third = await modern('tools/call', { name: 'call_result', arguments: { callId } }, { meta: { progressToken: 1 } });
    expect(third.status).toBe(429);
    for (const close of closing) close();
    await followers(0);
    await gateway.run(callId);
    expect((await modern('tools/call', { name: 'call_result', arguments: { callId } }, { meta: { progressToken: 1 } })).status).toBe(200);
  });

  it('cancels no call when an MCP client stops to ask for its result', async () => {
    const callId = await submitted();
    const close = follow(callId);
    await followers(1);
    close();
    await followers(0);
    await gateway.run(callId);
    expect((await gateway.agent.ended(callId)).outcome).toBe('completed');
  });

  it('releases everything for a client of an ended session, whose call continues and can be cancelled', async () => {
    const session = await openSession();
    const _meta = { progressToken: 1, 'io.toolyard/sessionId': 'gone' };
    const params = { name: 'echo', arguments: {}, _meta };
    const close = open({ jsonrpc: '2.0', id: 'r1', method: 'tools/call', params }, session);
    await followers(1);
    close();
    await followers(0);
    const { body } = await gateway.agent.get<CallPage>('/v1/calls?sessionId=gone&status=queued');
    const callId = body.calls[0]?.id ?? '';
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'r1' } };
    expect((await gateway.agent.request('POST', '/mcp', cancelled, session)).status).toBe(202);
    expect((await gateway.agent.ended(callId)).outcome).toBe('cancelled');
  });

  it.each([
    ['an id', { id: 'x'.repeat(300) }],
    ['a progress token', { meta: { progressToken: 'x'.repeat(300) } }],
  ])('refuses %s that would be sent back with every message and is very long', async (_what, ask) => {
    const { status, body } = await modern('tools/list', {}, ask);
    expect([status, body.error?.code]).toEqual([400, -32_600]);
  });

  it('releases everything of an MCP subscription that is refused or ends at once', async () => {
    const apiKeys = gateway.app.get(ApiKeyStore);
    const { watch } = apiKeys;
    let watches = 0;
    apiKeys.watch = (...args) => {
      watches += 1;
      const release = watch.apply(apiKeys, args);
      return () => {
        watches -= 1;
        release();
      };
    };
    try {
      expect((await modern('subscriptions/listen', { notifications: 5 })).body.error?.code).toBe(-32_602);
      await modern('subscriptions/listen', { notifications: {} });
      await eventually(() => watches === 0, 'no watch of the key');
    } finally {
      apiKeys.watch = watch;
    }
  });

  it('answers an inner fault of /mcp without details, and a fault of the client with them', async () => {
    const wrong = await modern('tools/list', {}, { meta: { 'io.toolyard/agentId': 'another-agent' } });
    expect(wrong.body.error).toMatchObject({ code: -32_602, message: expect.stringContaining('another-agent') });
    const catalog = gateway.app.get(ToolCatalog);
    const { listIn } = catalog;
    catalog.listIn = () => Promise.reject(new Error('secret of 10.0.0.5'));
    try {
      const { body } = await modern('tools/list', {});
      expect(body.error?.code).toBe(-32_603);
      expect(JSON.stringify(body)).not.toContain('secret');
    } finally {
      catalog.listIn = listIn;
    }
  });

  it('limits the MCP sessions of a key by closing the least recently used one', async () => {
    const first = await openSession();
    const sessions = gateway.app.get(McpSessions);
    const principal = { tenantId: TENANT, keyId: 'all', scopes: ['read'] } as never;
    for (let n = 0; n < 1000; n += 100)
      await Promise.all(Array.from({ length: 100 }, () => sessions.create(crypto.randomUUID(), principal, {})));
    const last = await openSession();
    const list = (session: Record<string, string>) =>
      new Agent(gateway.url, BOOTSTRAP_KEY).request('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, session);
    expect((await list(first)).status).toBe(404);
    expect((await list(last)).status).toBe(200);
  });
});
