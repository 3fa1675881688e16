import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { CallPage } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import { McpSessions } from '../../apps/gateway/src/mcp/endpoints/mcp-sessions.service.js';
import { FAIL_FAST_REDIS } from '../../apps/gateway/src/platform/tokens.js';
import { Agent, type Answer } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';

const TENANT = 'mcp-sessions';
const NEIGHBOUR = 'another-key-of-the-same-tenant';

interface Reply {
  readonly id: number | string | null;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}
interface Ask {
  readonly key?: string;
  readonly at?: TestGateway;
}

describe('MCP sessions of revision 2025-11-25, over two gateways', () => {
  let gateways: [TestGateway, TestGateway];
  beforeAll(async () => {
    const scopes = ['submit', 'read', 'cancel', 'approve'];
    const change = {
      keys: [
        { id: 'all', key: BOOTSTRAP_KEY, tenant: TENANT, scopes },
        { id: 'neighbour', key: NEIGHBOUR, tenant: TENANT, scopes },
      ] as never,
      defaultPosture: { autonomy: 'full', permissionMode: 'workspace-write' } as const,
      mcp: { answerMs: 20_000, taskMs: 0 },
    };
    gateways = await Promise.all([
      startTestGateway(TENANT, { ...change, lists: true }),
      startTestGateway(TENANT, { ...change, lists: true }),
    ]);
  });
  afterAll(() => Promise.all(gateways.map((gateway) => gateway.close())));

  const post = (
    body: unknown,
    headers: Record<string, string>,
    { key = BOOTSTRAP_KEY, at = gateways[0] }: Ask = {},
  ): Promise<Answer<Reply>> =>
    new Agent(at.url, key).request<Reply>('POST', '/mcp', body, { accept: 'application/json, text/event-stream', ...headers });
  const callIn = (sessionId: string, status = 'queued') =>
    eventually(async () => {
      const { body } = await gateways[0].agent.get<CallPage>(`/v1/calls?sessionId=${sessionId}&status=${status}`);
      return body.calls[0];
    }, `a call in the session ${sessionId}`);
  const inSession = (sessionId: string) => ({ 'io.toolyard/sessionId': sessionId });
  const open = async (key = BOOTSTRAP_KEY, capabilities: object = {}) => {
    const initialize = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'raw', version: '1' } };
    const answer = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params: initialize }, {}, { key });
    return { answer, session: { 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' } };
  };

  it('opens an MCP session by initialize at every gateway, and ends it by DELETE', async () => {
    const { answer, session } = await open();
    expect(answer.body.result).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: { name: 'toolyard' } });
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    for (const at of gateways) expect((await post(list, session, { at })).body.result?.['tools']).toBeDefined();
    expect((await gateways[1].agent.request('DELETE', '/mcp', undefined, session)).status).toBe(200);
    expect((await post(list, session)).status).toBe(404);
  });

  it('answers 404 to an MCP session of another key, unknown or malformed, and 400 to none', async () => {
    const { session } = await open();
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await post(list, session, { key: NEIGHBOUR })).status).toBe(404);
    expect((await post(list, { 'mcp-session-id': '00000000-0000-4000-8000-000000000000' })).status).toBe(404);
    expect((await post(list, { 'mcp-session-id': '../*' })).status).toBe(404);
    expect((await post(list, {})).status).toBe(400);
  });

  it('cancels a request of an MCP session at any gateway by its id, and ignores ids of unknown requests', async () => {
    const { session } = await open();
    const params = { name: 'echo', arguments: {}, _meta: { ...inSession('legacy-cancel'), progressToken: 1 } };
    const answering = post({ jsonrpc: '2.0', id: 'r1', method: 'tools/call', params }, session);
    const { id } = await callIn('legacy-cancel');
    const cancel = (requestId: unknown) =>
      post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }, session, { at: gateways[1] });
    expect((await cancel('r2')).status).toBe(202);
    expect((await cancel({ $ne: 1 })).status).toBe(202);
    expect((await cancel('r1')).status).toBe(202);
    expect((await gateways[0].agent.ended(id)).outcome).toBe('cancelled');
    expect(JSON.stringify((await answering).body)).not.toContain('"result"');
  });

  it('resumes the MCP response of a call after its last event, at any gateway, in the same session only', async () => {
    const [{ session }, { session: another }] = await Promise.all([open(), open()]);
    const headers = { authorization: `Bearer ${BOOTSTRAP_KEY}`, accept: 'application/json, text/event-stream' };
    const client = new AbortController();
    const params = { name: 'echo', arguments: {}, _meta: { ...inSession('resumed'), progressToken: 1 } };
    const first = await fetch(`${gateways[0].url}/mcp`, {
      method: 'POST',
      headers: { ...headers, ...session, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'r1', method: 'tools/call', params }),
      signal: client.signal,
    });
    const { id } = await callIn('resumed');
    const attempt = await gateways[0].claim(id);
    await attempt.update('seen');
    const { text, lastId } = await readUntil(first, 'seen');
    expect(text).toMatch(/^id: \S+\nretry: 1000\ndata: \n\n/m);
    client.abort();
    const resume = (lastEventId: string, of = session, at = gateways[1]) =>
      fetch(`${at.url}/mcp`, { headers: { ...headers, ...of, 'last-event-id': lastEventId } });
    const refusedWith = async (...of: Parameters<typeof resume>) => (await resume(...of)).status;
    expect(await Promise.all([refusedWith('nonsense'), refusedWith(lastId, another)])).toEqual([400, 400]);
    const live = await resume(lastId);
    await attempt.end('done');
    const rest = await live.text();
    expect(rest.match(/"text":"done"/g)).toHaveLength(1);
    const steps = [...`${text}${rest}`.matchAll(/"progress":([\d.]+)/g)].map(([, step]) => Number(step));
    expect(steps).toEqual([...new Set(steps)].toSorted((a, b) => a - b));
    expect(rest.match(/"id":"r1"/g)).toHaveLength(1);
    expect(await refusedWith(lastId)).toBe(400);
  });

  it('takes no answer of an MCP session to a question that it was not asked', async () => {
    const { body } = await gateways[0].agent.submit('shell', { command: 'date' }, { sessionId: 'unasked' });
    expect(body.status).toBe('waiting_approval');
    const { id } = body;
    const { session } = await open();
    const result = { action: 'accept', content: { approve: true } };
    expect((await post({ jsonrpc: '2.0', id: `approval:${id}`, result }, session)).status).toBe(202);
    expect((await gateways[0].agent.get(`/v1/calls/${id}`)).body.status).toBe('waiting_approval');
  });

  it('ends the notification stream of an MCP session with DELETE, at any gateway', async () => {
    const { session } = await open();
    const headers = { authorization: `Bearer ${BOOTSTRAP_KEY}`, accept: 'text/event-stream', ...session };
    const stream = await fetch(`${gateways[0].url}/mcp`, { headers });
    expect(stream.status).toBe(200);
    expect((await gateways[1].agent.request('DELETE', '/mcp', undefined, session)).status).toBe(200);
    expect(await stream.text()).toBe('');
  });

  it('forgets the oldest leftovers of an MCP session: its user is asked and answers all the same', async () => {
    const { session } = await open(BOOTSTRAP_KEY, { elicitation: {} });
    const sessions = gateways[0].app.get(McpSessions);
    const principal = { tenantId: TENANT, keyId: 'all', scopes: ['read'] } as never;
    const stored = await sessions.find(session['mcp-session-id'], principal);
    if (stored === undefined) throw new Error('the session is not there');
    for (let n = 0; n < 3_000; n += 500) await Promise.all(Array.from({ length: 500 }, (_unused, i) => stored.cancel(n + i)));
    const params = { name: 'shell', arguments: { command: 'date' }, _meta: { ...inSession('leftovers'), progressToken: 1 } };
    const answering = post({ jsonrpc: '2.0', id: 'r1', method: 'tools/call', params }, session);
    const { id } = await callIn('leftovers', 'waiting_approval');
    const result = { action: 'accept', content: { approve: true } };
    const answer = () => post({ jsonrpc: '2.0', id: `approval:${id}`, result }, session, { at: gateways[1] });
    await eventually(async () => {
      await answer();
      return (await gateways[0].agent.get(`/v1/calls/${id}`)).body.status === 'queued';
    }, 'the answer of the user');
    await gateways[0].run(id, 'approved');
    expect(JSON.stringify((await answering).body)).toContain('approved');
    const redis = gateways[0].app.get<RedisConnection>(FAIL_FAST_REDIS);
    expect(await redis.hlen(keys.mcpSession(session['mcp-session-id']))).toBeLessThan(2_100);
  });

  it('sends six commands to Redis for a call of an MCP session, and one for a request of another kind', async () => {
    const { session } = await open();
    const redis = gateways[0].app.get<Redis>(FAIL_FAST_REDIS);
    const { sendCommand } = redis;
    const commands: string[] = [];
    redis.sendCommand = (...[command, ...more]: Parameters<typeof sendCommand>) => {
      if (command.args.some((arg) => typeof arg === 'string' && arg.includes(session['mcp-session-id']))) commands.push(command.name);
      return Reflect.apply(sendCommand, redis, [command, ...more]);
    };
    try {
      await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, session);
      expect(commands.splice(0)).toEqual(['hmget']);
      const answering = post(
        { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: {}, _meta: inSession('cost') } },
        session,
      );
      await gateways[1].run((await callIn('cost')).id);
      await answering;
      expect(commands).toEqual(['hmget', 'hset', 'hlen', 'hexists', 'hdel', 'hdel']);
    } finally {
      redis.sendCommand = sendCommand;
    }
  });
});

/** What came until this text, and the id of the last event. */
async function readUntil(response: Response, enough: string): Promise<{ readonly text: string; readonly lastId: string }> {
  const reader = (response.body ?? fail()).pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes(enough) || !text.endsWith('\n\n')) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the stream ended: ${text}`);
    text += value;
  }
  return { text, lastId: [...text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? '' };
}

function fail(): never {
  throw new Error('the response has no body');
}
