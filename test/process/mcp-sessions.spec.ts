import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { CallPage } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import { McpSessions } from '../../apps/gateway/src/mcp/endpoints/mcp-sessions.service.js';
import { FAIL_FAST_REDIS } from '../../apps/gateway/src/platform/tokens.js';
import type { Answer } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';

const TENANT = 'mcp-sessions';

interface Reply {
  readonly id: number | string | null;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}
interface Ask {
  readonly at?: TestGateway;
}

describe('MCP sessions of revision 2025-11-25, over two gateways', () => {
  let gateways: [TestGateway, TestGateway];
  beforeAll(async () => {
    const scopes = ['submit', 'read', 'cancel', 'approve'];
    const change = {
      keys: [{ id: 'all', key: BOOTSTRAP_KEY, tenant: TENANT, scopes }] as never,
      defaultPosture: { autonomy: 'full', permissionMode: 'workspace-write' } as const,
      mcp: { answerMs: 20_000, taskMs: 0 },
    };
    gateways = await Promise.all([
      startTestGateway(TENANT, { ...change, lists: true }),
      startTestGateway(TENANT, { ...change, lists: true }),
    ]);
  });
  afterAll(() => Promise.all(gateways.map((gateway) => gateway.close())));

  const post = (body: unknown, headers: Record<string, string>, { at = gateways[0] }: Ask = {}): Promise<Answer<Reply>> =>
    at.agent.request<Reply>('POST', '/mcp', body, { accept: 'application/json, text/event-stream', ...headers });
  const callIn = (sessionId: string, status = 'queued') =>
    eventually(async () => {
      const { body } = await gateways[0].agent.get<CallPage>(`/v1/calls?sessionId=${sessionId}&status=${status}`);
      return body.calls[0];
    }, `a call in the session ${sessionId}`);
  const inSession = (sessionId: string) => ({ 'io.toolyard/sessionId': sessionId });
  const open = async (capabilities: object = {}) => {
    const initialize = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'raw', version: '1' } };
    const answer = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params: initialize }, {});
    return { answer, session: { 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' } };
  };

  it('deletes the oldest leftovers of an MCP session, whose user is still asked and answered', async () => {
    const { session } = await open({ elicitation: {} });
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
