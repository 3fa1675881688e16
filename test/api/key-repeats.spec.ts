import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallPage } from '#contracts';
import { eventually } from '../support/eventually.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';
import { connectMcp } from '../support/mcp-clients.js';

/** The agent `strict` and the key `narrow` may not use `held`; the keys of the agent `lax` are alike. */
const KEYS = {
  plain: {},
  strict: { agent: 'strict' },
  lax: { agent: 'lax' },
  'lax-too': { agent: 'lax' },
  narrow: { tools: ['echo'] },
};

describe('an Idempotency-Key that another key of the tenant repeats', () => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await useTenant('key-repeats', { keys: KEYS, held: true, settings: { agents: { strict: { tools: ['echo'] }, lax: {} } } });
  });
  afterAll(() => tenant?.close());

  const call = (more: object = {}) => ({ tool: 'held', arguments: { pattern: '*' }, ...more });

  /** Ways of submitting the same call again under the same name; each gives the whole answer as text. */
  const WAYS: readonly (readonly [string, (who: string, name: string) => Promise<string>])[] = [
    ['a call', (who, name) => request(who, '/v1/calls', call(), { 'idempotency-key': name })],
    ['a toolCallId of a session', (who, name) => request(who, '/v1/calls', call({ sessionId: 'repeats', toolCallId: name }))],
    ['a batch', (who, name) => request(who, '/v1/batches', { calls: [call()] }, { 'idempotency-key': name })],
    ['a frame of a WebSocket', submitFrame],
    ['tools/call of MCP', toolsCall],
    ['a child call', (who, name) => request(who, '/v1/calls', call({ parentCallId: parent }), { 'idempotency-key': name })],
  ];
  let parent = '';
  beforeAll(async () => {
    parent = (await tenant.agentOf('plain').submit('held', {})).body.id;
    await tenant.held.claim(parent);
  });

  async function request(who: string, path: string, body: object, headers: Record<string, string> = {}): Promise<string> {
    const answer = await tenant.agentOf(who).request('POST', path, body, headers);
    return JSON.stringify(answer.body);
  }

  async function submitFrame(who: string, name: string): Promise<string> {
    const stream = await tenant.agentOf(who).stream();
    stream.send({ op: 'submit', id: 1, call: call(), idempotencyKey: name });
    const answer = await eventually(() => stream.frames.find(({ frame }) => 'id' in frame && frame.id === 1), 'the answer to the frame');
    stream.close();
    return JSON.stringify(answer);
  }

  async function toolsCall(who: string, name: string): Promise<string> {
    const client = await connectMcp('2026-07-28', { key: tenant.keyOf(who), urls: [tenant.url] });
    try {
      const meta = { 'io.toolyard/idempotencyKey': name, 'io.toolyard/sessionId': name };
      const answer = client.call('held', { pattern: '*' }, { meta }).catch((error: unknown) => String(error));
      if (who === 'plain') await endCallOf(name);
      return JSON.stringify(await answer);
    } finally {
      await client.close();
    }
  }

  /** The client gets an answer when the call of its session has ended. */
  async function endCallOf(sessionId: string): Promise<void> {
    const list = () => tenant.agent.get<CallPage>(`/v1/calls?sessionId=${sessionId}`);
    const { id } = await eventually(async () => (await list()).body.calls[0], 'the call of the client');
    if ((await tenant.agent.get(`/v1/calls/${id}`)).body.status === 'queued') await tenant.held.run(id);
  }

  /** The id that `plain` gets. */
  async function answeredFirst(way: (who: string, name: string) => Promise<string>, name: string): Promise<string> {
    const [id = ''] = /[0-9a-f]{2}-[0-9A-HJKMNP-TV-Z]{26}/.exec(await way('plain', name)) ?? [];
    return id;
  }

  it.each(WAYS)('refuses a repetition by a key of other tools: %s', async (_way, way) => {
    const name = `narrow-${WAYS.findIndex(([, one]) => one === way)}`;
    const id = await answeredFirst(way, name);
    expect(id).not.toBe('');
    expect(await way('narrow', name)).not.toContain(id);
    expect(await way('plain', name)).toContain(id);
  });

  it.each(WAYS.slice(0, 5))('refuses a repetition by another agent: %s', async (_way, way) => {
    const name = `strict-${WAYS.findIndex(([, one]) => one === way)}`;
    const id = await answeredFirst(way, name);
    expect(id).not.toBe('');
    expect(await way('strict', name)).not.toContain(id);
    expect(await way('plain', name)).toContain(id);
  });

  it('answers a repetition with the same call if agent and tools of both keys match', async () => {
    const submit = (who: string) => tenant.agentOf(who).request('POST', '/v1/calls', call(), { 'idempotency-key': 'lax' });
    const first = await submit('lax');
    expect([(await submit('lax-too')).body.id, first.status]).toEqual([first.body.id, 202]);
    expect((await submit('plain')).status).toBe(422);
  });
});
