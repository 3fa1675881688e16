import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AgentSettings, Call, PutSessionBody } from '#contracts';
import type { Agent } from '../support/agent.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const WRITE = { path: 'a', content: 'b' };

describe('a call', () => {
  let tenant: Tenant;
  let agent: Agent;
  let sessions = 0;

  beforeAll(async () => {
    const agents = {
      denying: { policy: { paths: { forbidden: ['/'] }, allowedTools: ['*'] } },
      excluding: { policy: { exclude: ['echo'] } },
    } satisfies Record<string, AgentSettings>;
    tenant = await useTenant('policy-axes', { settings: { agents } });
    ({ agent } = tenant);
  });
  afterAll(() => tenant?.close());

  const session = async (body: PutSessionBody) => {
    const id = `s-${++sessions}`;
    expect((await agent.request('PUT', `/v1/sessions/${id}`, body)).status).toBe(200);
    return id;
  };
  const submit = async (tool: string, args: object, more: Record<string, unknown> = {}) => (await agent.submit(tool, args, more)).body;
  const submitted = async (tool: string, args: object, more: Record<string, unknown> = {}): Promise<Call> => {
    const body = await submit(tool, args, more);
    return 'callId' in body ? (await agent.get(`/v1/calls/${String(body.callId)}`)).body : body;
  };
  const effects = ({ decision }: Call) => new Map(decision.reasons.map(({ axis, rule, effect }) => [`${axis}:${rule}`, effect]));
  const ALLOW = { posture: { autonomy: 'full', permissionMode: 'allow' } } as const;
  const PROMPT = { posture: { autonomy: 'supervised', permissionMode: 'prompt' } } as const;

  it('denies a call that one axis allows and another denies, with the answers of both [PP-70]', async () => {
    const call = await submitted('file_read', { path: '/x' }, { agentId: 'denying', sessionId: await session(ALLOW) });
    expect(call).toMatchObject({ status: 'ended', outcome: 'denied', decision: { effect: 'deny' } });
    expect([effects(call).get('facts:posture'), effects(call).get('risk:path')]).toEqual(['allow', 'deny']);
  });

  it('denies a call that one axis asks about and another denies, and asks no person [PP-70]', async () => {
    const call = await submitted('echo', {}, { agentId: 'excluding', sessionId: await session(PROMPT) });
    expect(call).toMatchObject({ status: 'ended', outcome: 'denied' });
    expect(call.approval).toBeUndefined();
  });

  it('asks a person about a call if one axis asks and the others allow, with the possible grants [PP-70]', async () => {
    const call = await submitted('file_write', WRITE, { sessionId: await session(PROMPT) });
    expect(call).toMatchObject({ status: 'waiting_approval', decision: { effect: 'ask' } });
    expect(call.decision.trustOptions).toContainEqual(expect.objectContaining({ id: 'paths' }));
    expect([effects(call).get('facts:posture'), effects(call).get('risk:path')]).toEqual(['ask', 'allow']);
    expect((await submitted('echo', {}, { sessionId: await session(PROMPT) })).decision.effect).toBe('allow');
  });

  it.each([
    ['file_write', 'queued'],
    ['fs_write', 'queued'],
    ['file_*', 'queued'],
    ['fs_*', 'queued'],
    ['@builtin', 'queued'],
    ['@builtin/file_write', 'queued'],
    ['@builtin/file_*', 'queued'],
    ['*', 'queued'],
    ['file_read', 'waiting_approval'],
    ['@mcp', 'waiting_approval'],
    ['@git/file_write', 'waiting_approval'],
    ['#file_write', 'waiting_approval'],
  ])('decides file_write under allowedTools %s: %s [PP-71]', async (pattern, status) => {
    const call = await submitted('file_write', WRITE, { sessionId: await session({ ...PROMPT, allowedTools: [pattern] }) });
    expect(call.status).toBe(status);
    if (status === 'queued')
      expect(call.decision.reasons).toContainEqual(expect.objectContaining({ satisfiedBy: `allowedTools: ${pattern}` }));
  });

  it('denies a call of a tool in allowedTools still when another axis denies it [PP-70, PP-71]', async () => {
    expect(await submitted('file_read', { path: '/x' }, { agentId: 'denying' })).toMatchObject({ outcome: 'denied' });
    const denied = await session({ ...PROMPT, allowedTools: ['*'], grants: { ...NOTHING, deniedTools: ['file_write'] } });
    expect(await submitted('file_write', WRITE, { sessionId: denied })).toMatchObject({ outcome: 'denied' });
  });
});

const NOTHING = {
  trustedTools: [],
  deniedTools: [],
  allowedPaths: { read: [], write: [] },
  deniedPaths: { read: [], write: [] },
  allowedCommands: [],
};
