import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Batch, BulkResult, CallPage, Principal, Problem, Quote, Session, ToolDescriptor } from '#contracts';
import type { Agent, Answer } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const SCOPES = ['submit' as const, 'read' as const, 'cancel' as const];
const APPROVER = [...SCOPES, 'approve' as const, 'admin' as const];

/** Keys of three tenants. `strict` may do nothing but echo; the rival's agent of the same name, and any other agent, may do all. */
const ACME = {
  plain: {},
  bound: { agent: 'strict', scopes: [...SCOPES, 'approve' as const] },
  team: { agent: 'strict', agents: ['team-*'], scopes: SCOPES },
  all: { agents: ['*'] },
};
const RIVAL = { rival: { agents: ['*'] }, approver: { scopes: APPROVER } };
const RULED = { ruled: { agents: ['*'], scopes: APPROVER }, second: { scopes: APPROVER } };
const RULES = {
  policy: { exclude: ['shell'] },
  posture: { autonomy: 'read_only' as const },
  approvals: { fourEyes: true },
  sessionHooks: { commands: true },
  limits: { argumentBytes: 64 },
  hooks: [{ name: 'closed', on: 'before' as const, match: ['file_list'], command: 'echo closed >&2; exit 2' }],
  agents: { free: { posture: { autonomy: 'full' as const }, limits: { argumentBytes: 1_000 } } },
};

describe('the agents of a key', () => {
  let tenant: Tenant;
  let rival: Tenant;
  let ruled: Tenant;
  beforeAll(async () => {
    tenant = await useTenant('key-agents', { held: true, keys: ACME, settings: { agents: { strict: { tools: ['echo'] } } } });
    rival = await useTenant('key-agents-rival', { keys: RIVAL, settings: { agents: { strict: {} } } });
    ruled = await useTenant('key-agents-ruled', { keys: RULED, settings: RULES });
  });
  afterAll(async () => {
    await tenant?.close();
    await rival?.close();
    await ruled?.close();
  });

  const as = (name: string) => (name in RIVAL ? rival : name in RULED ? ruled : tenant).agentOf(name);
  const glob = (agentId?: string) => ({ tool: 'glob', arguments: { pattern: '*' }, ...(agentId === undefined ? {} : { agentId }) });
  const codeOf = ({ status, body }: Answer) => [status, (body as Partial<Problem>).code];
  const FORBIDDEN = [403, 'forbidden'];

  /** Every way of naming an agent; each gives status and code of the answer. */
  const WAYS: readonly (readonly [string, (agent: Agent, agentId: string) => Promise<unknown>])[] = [
    ['a call', async (agent, agentId) => codeOf(await agent.request('POST', '/v1/calls', glob(agentId)))],
    ['a quote', async (agent, agentId) => codeOf(await agent.request('POST', '/v1/calls:quote', glob(agentId)))],
    ['a batch', async (agent, agentId) => codeOf(await agent.request('POST', '/v1/batches', { agentId, calls: [{ tool: 'echo' }] }))],
    [
      'a batch of which all or nothing runs',
      async (agent, agentId) =>
        codeOf(await agent.request('POST', '/v1/batches', { agentId, onFailure: 'abort', calls: [{ tool: 'echo' }] })),
    ],
    ['the catalog', async (agent, agentId) => codeOf(await agent.get(`/v1/tools?agentId=${agentId}`))],
    [
      'a submit frame of a WebSocket',
      async (agent, agentId) => {
        const stream = await agent.stream();
        try {
          stream.send({ op: 'submit', id: 1, call: glob(agentId) });
          const { problem } = await stream.frame('error', 1);
          return [problem.status, problem.code];
        } finally {
          stream.close();
        }
      },
    ],
    [
      'a replay of a call of that agent',
      async (agent, agentId) => {
        const { body } = await tenant.agent.submit('echo', {}, { agentId });
        return codeOf(await agent.request('POST', `/v1/calls/${body.id}/replay`, {}));
      },
    ],
    [
      'a replay of many calls of that agent',
      async (agent, agentId) => {
        const sessionId = `replayed-by-${agentId}`;
        const { body } = await tenant.agent.submit('held', {}, { agentId, sessionId });
        await tenant.held.run(body.id);
        const listed = async () => (await tenant.agent.get<CallPage>(`/v1/calls?sessionId=${sessionId}&status=ended`)).body.calls;
        await eventually(async () => (await listed()).length > 0, 'the call to be listed');
        const { body: done } = await agent.request<BulkResult>('POST', '/v1/calls:replay', { filter: { sessionId: [sessionId] } });
        return done.failed.map(({ problem }) => [problem.status, problem.code]).flat();
      },
    ],
    [
      'a child of a call of that agent',
      async (agent, agentId) => {
        const { body } = await tenant.agent.submit('held', {}, { agentId });
        await tenant.held.claim(body.id);
        return codeOf(await agent.request('POST', '/v1/calls', { tool: 'glob', arguments: { pattern: '*' }, parentCallId: body.id }));
      },
    ],
  ];

  it.each(WAYS)('limits the agents that %s may name to those of the key, else 403', async (_what, way) => {
    expect(await way(as('plain'), 'loose')).toEqual(FORBIDDEN);
    expect(await way(as('bound'), 'loose-too')).toEqual(FORBIDDEN);
    expect(await way(as('team'), 'steam-1')).toEqual(FORBIDDEN);
  });

  it('accepts the key’s own agent and those that its globs match, and evaluates a call as that agent', async () => {
    expect(codeOf(await as('bound').request('POST', '/v1/calls', glob('strict')))).toEqual([403, 'policy_denied']);
    expect(codeOf(await as('bound').request('POST', '/v1/calls', glob()))).toEqual([403, 'policy_denied']);
    const { status, body } = await as('team').request('POST', '/v1/calls', glob('team-7'));
    expect([status, body.agentId]).toEqual([202, 'team-7']);
    expect((await as('team').request('POST', '/v1/calls', glob())).status).toBe(403);
    expect((await as('bound').submit('echo', {})).body.agentId).toBe('strict');
    const batch = { agentId: 'team-7', calls: [{ tool: 'glob', arguments: { pattern: '*' } }] };
    expect((await as('team').request<Batch>('POST', '/v1/batches', batch)).status).toBe(202);
    const quote = await as('all').request<Quote>('POST', '/v1/calls:quote', glob('strict'));
    expect(quote.body.decision?.effect).toBe('deny');
  });

  it('accepts calls without an agent from a key without agents', async () => {
    const { status, body } = await as('plain').request('POST', '/v1/calls', glob());
    expect([status, body.agentId]).toEqual([202, undefined]);
  });

  it('separates agents of the same name in two tenants', async () => {
    expect(codeOf(await as('all').request('POST', '/v1/calls', glob('strict')))).toEqual([403, 'policy_denied']);
    expect((await as('rival').request('POST', '/v1/calls', glob('strict'))).status).toBe(202);
    const catalog = async (name: string) => {
      const { body } = await as(name).get<{ tools: ToolDescriptor[] }>('/v1/tools?agentId=strict');
      return body.tools.filter(({ available }) => available.ok).map((tool) => tool.name);
    };
    expect(await catalog('all')).toEqual(['echo']);
    expect(await catalog('rival')).toContain('shell');
  });

  it('applies the rules of the tenant to each of its agents, and the rules of the agent on top of them', async () => {
    const submit = async (name: string, tool: string, args: object, agentId?: string) =>
      codeOf(await as(name).request('POST', '/v1/calls', { tool, arguments: args, ...(agentId && { agentId }) }));
    const [long, file] = [{ text: 'x'.repeat(100) }, { path: 'a', content: 'b' }];
    const GONE = [403, 'policy_denied'];
    for (const agentId of [undefined, 'free', 'any']) expect(await submit('ruled', 'shell', { command: 'ls' }, agentId)).toEqual(GONE);
    expect(await submit('ruled', 'file_write', file)).toEqual(GONE);
    expect(await submit('ruled', 'file_write', file, 'free')).toEqual([202, undefined]);
    expect((await submit('ruled', 'echo', long))[0]).toBe(413);
    expect(await submit('ruled', 'echo', long, 'free')).toEqual([202, undefined]);
    for (const agentId of [undefined, 'free'])
      expect(await submit('ruled', 'file_list', { path: '.' }, agentId)).toEqual([403, 'hook_rejected']);
    expect(await submit('rival', 'file_list', { path: '.' })).toEqual([202, undefined]);
    expect(await submit('rival', 'echo', long)).toEqual([202, undefined]);
    expect((await as('ruled').get<Session>('/v1/sessions/new')).body.posture.autonomy).toBe('read_only');
  });

  it('applies the approvals and session hooks of the tenant to each agent', async () => {
    const command = { hooks: [{ name: 'noted', on: 'before', command: 'true' }] };
    const hooked = async (name: string) => (await as(name).request('PUT', '/v1/sessions/hooked', command)).status;
    expect([await hooked('ruled'), await hooked('approver')]).toEqual([200, 422]);
    const posture = { autonomy: 'supervised', permissionMode: 'prompt' };
    const waiting = async (name: string, other: string) => {
      await as(other).request('PUT', '/v1/sessions/asks', { posture });
      const { body } = await as(name).submit('file_write', { path: 'a', content: 'b' }, { sessionId: 'asks' });
      return body.id;
    };
    const allow = async (name: string, id: string) =>
      (await as(name).request('POST', `/v1/calls/${id}/decision`, { decision: 'allow' })).status;
    const [ruled, rival] = [await waiting('ruled', 'second'), await waiting('approver', 'approver')];
    expect([await allow('ruled', ruled), await allow('second', ruled), await allow('approver', rival)]).toEqual([403, 200, 200]);
  });

  it('shows a key its agents and scopes; a key of the config file has `approve` and `admin` only if it names them', async () => {
    const who = async (name: string) => (await as(name).get<Principal>('/v1/whoami')).body;
    expect(await who('team')).toMatchObject({ agentId: 'strict', agents: ['team-*'] });
    expect((await who('plain')).scopes).toEqual(['submit', 'read', 'cancel']);
    expect(codeOf(await as('plain').request('PUT', '/v1/sessions/any', { posture: {} }))).toEqual(FORBIDDEN);
    const { body } = await tenant.agent.get<Principal>('/v1/whoami');
    expect(body).toMatchObject({ agents: ['*'], scopes: ['submit', 'read', 'cancel', 'approve', 'admin', 'operate', 'work'] });
  });
});
