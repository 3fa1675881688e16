import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallPage } from '#contracts';
import type { Answer } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

interface Reply {
  readonly id: number | string | null;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}
interface Ask {
  /** Name of a key. */
  readonly key?: string;
  /** Address of a gateway. */
  readonly at?: string;
}

describe('MCP sessions of revision 2025-11-25, over two gateways', () => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await useTenant('mcp-sessions', {
      keys: { neighbour: { scopes: ['submit', 'read', 'cancel', 'approve'] } },
      held: true,
      settings: { posture: { autonomy: 'full', permissionMode: 'workspace-write' } },
    });
  });
  afterAll(() => tenant?.close());

  const post = (body: unknown, headers: Record<string, string>, { key = 'main', at = tenant.url }: Ask = {}): Promise<Answer<Reply>> =>
    tenant.agentOf(key, at).request<Reply>('POST', '/mcp', body, { accept: 'application/json, text/event-stream', ...headers });
  const callIn = (sessionId: string, status = 'queued') =>
    eventually(async () => {
      const { body } = await tenant.agent.get<CallPage>(`/v1/calls?sessionId=${sessionId}&status=${status}`);
      return body.calls[0];
    }, `a call in the session ${sessionId}`);
  const inSession = (sessionId: string) => ({ 'io.toolyard/sessionId': sessionId });
  const open = async () => {
    const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    const answer = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params: initialize }, {});
    return { answer, session: { 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' } };
  };

  it('opens an MCP session by initialize at every gateway, and ends it by DELETE', async () => {
    const { answer, session } = await open();
    expect(answer.body.result).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: { name: 'toolyard' } });
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    for (const at of [tenant.url, tenant.otherUrl]) expect((await post(list, session, { at })).body.result?.['tools']).toBeDefined();
    expect((await tenant.other.request('DELETE', '/mcp', undefined, session)).status).toBe(200);
    expect((await post(list, session)).status).toBe(404);
  });

  it('answers 404 to a foreign, unknown or malformed MCP session, and 400 to a missing one', async () => {
    const { session } = await open();
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await post(list, session, { key: 'neighbour' })).status).toBe(404);
    expect((await post(list, { 'mcp-session-id': '00000000-0000-4000-8000-000000000000' })).status).toBe(404);
    expect((await post(list, { 'mcp-session-id': '../*' })).status).toBe(404);
    expect((await post(list, {})).status).toBe(400);
  });

  it('cancels a request of an MCP session at any gateway by its id, and ignores ids of unknown requests', async () => {
    const { session } = await open();
    const params = { name: 'held', arguments: {}, _meta: { ...inSession('legacy-cancel'), progressToken: 1 } };
    const answering = post({ jsonrpc: '2.0', id: 'r1', method: 'tools/call', params }, session);
    const { id } = await callIn('legacy-cancel');
    const cancel = (requestId: unknown) =>
      post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }, session, { at: tenant.otherUrl });
    expect((await cancel('r2')).status).toBe(202);
    expect((await cancel({ $ne: 1 })).status).toBe(202);
    expect((await cancel('r1')).status).toBe(202);
    expect((await tenant.agent.ended(id)).outcome).toBe('cancelled');
    expect(JSON.stringify((await answering).body)).not.toContain('"result"');
  });

  it('resumes the MCP response of a call after its last event, at any gateway, in the same session only', async () => {
    const [{ session }, { session: another }] = await Promise.all([open(), open()]);
    const headers = { authorization: `Bearer ${tenant.keyOf('main')}`, accept: 'application/json, text/event-stream' };
    const client = new AbortController();
    const params = { name: 'held', arguments: {}, _meta: { ...inSession('resumed'), progressToken: 1 } };
    const first = await fetch(`${tenant.url}/mcp`, {
      method: 'POST',
      headers: { ...headers, ...session, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'r1', method: 'tools/call', params }),
      signal: client.signal,
    });
    const { id } = await callIn('resumed');
    const attempt = await tenant.held.claim(id);
    attempt.update('seen\n');
    const { text, lastId } = await readUntil(first, 'seen');
    expect(text).toMatch(/^id: \S+\nretry: 1000\ndata: \n\n/m);
    client.abort();
    const resume = (lastEventId: string, of = session, at = tenant.otherUrl) =>
      fetch(`${at}/mcp`, { headers: { ...headers, ...of, 'last-event-id': lastEventId } });
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

  it('rejects an answer of an MCP session to a question of another session', async () => {
    const { body } = await tenant.agent.submit('shell', { command: 'date' }, { sessionId: 'unasked' });
    expect(body.status).toBe('waiting_approval');
    const { id } = body;
    const { session } = await open();
    const result = { action: 'accept', content: { approve: true } };
    expect((await post({ jsonrpc: '2.0', id: `approval:${id}`, result }, session)).status).toBe(202);
    expect((await tenant.agent.get(`/v1/calls/${id}`)).body.status).toBe('waiting_approval');
  });

  it('ends the notification stream of an MCP session with DELETE, at any gateway', async () => {
    const { session } = await open();
    const headers = { authorization: `Bearer ${tenant.keyOf('main')}`, accept: 'text/event-stream', ...session };
    const stream = await fetch(`${tenant.url}/mcp`, { headers });
    expect(stream.status).toBe(200);
    expect((await tenant.other.request('DELETE', '/mcp', undefined, session)).status).toBe(200);
    expect(await stream.text()).toBe('');
  });
});

/** Text received up to `enough`, and the id of the last event. */
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
