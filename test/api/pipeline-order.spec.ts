import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Problem } from '#contracts';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const REFUSES_ALL = {
  posture: { autonomy: 'read_only', permissionMode: 'read-only' },
  tools: ['echo', 'file_search', 'file_write', 'shell'],
};

/** Each call has a fault of its own stage and of every later one it can have: the first stage speaks. */
const STAGES: [stage: string, call: object, status: number, code: string, rule: string | undefined][] = [
  ['the name of the tool', { tool: 'no_such_tool', arguments: '{"broken' }, 404, 'not_found', undefined],
  ['whether the session has the tool', { tool: 'glob', arguments: '{"broken' }, 403, 'policy_denied', 'availability'],
  ['whether the arguments are JSON', { tool: 'file_write', arguments: '{"path": "/etc/x"' }, 422, 'invalid_arguments', undefined],
  ['whether they fit the schema', { tool: 'file_write', arguments: { path: '..%2fx', content: 1 } }, 422, 'invalid_arguments', undefined],
  ['what they mean', { tool: 'file_search', arguments: { path: '..%2fx', query: '(' } }, 422, 'invalid_arguments', undefined],
  ['the posture', { tool: 'file_write', arguments: { path: '..%2fx', content: 'x' } }, 403, 'policy_denied', 'posture'],
];

describe('the stages of a submission', () => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await useTenant('pipeline-order', { settings: { limits: { concurrency: [{ per: 'session', calls: 0 }] } } });
    await tenant.agent.request('PUT', '/v1/sessions/strict', REFUSES_ALL);
    await tenant.agent.request('PUT', '/v1/sessions/asking', { posture: { permissionMode: 'prompt' } });
  });
  afterAll(() => tenant?.close());

  const refused = (call: object, sessionId: string) => tenant.agent.request<Problem>('POST', '/v1/calls', { ...call, sessionId });
  const typesOf = async ({ callId = '' }: Problem) => (await tenant.agent.events(callId)).map(({ type }) => type);

  it.each(STAGES)('refuses a submission at %s before any later stage [RP-20, RP-25]', async (_stage, call, status, code, rule) => {
    const { status: answered, body } = await refused(call, 'strict');
    expect([answered, body.code]).toEqual([status, code]);
    const { decision } = (await tenant.agent.get(`/v1/calls/${body.callId}`)).body;
    expect(decision.reasons.find(({ effect }) => effect === 'deny')?.rule).toBe(rule);
    expect(decision.reasons.some(({ axis }) => axis === 'limits')).toBe(false);
    expect(await typesOf(body)).toEqual(['call.submitted', 'call.end']);
  });

  it('refuses faults that a tool itself finds before asking a person [VA-09]', async () => {
    const { status, body } = await refused({ tool: 'file_search', arguments: { path: 'a', query: '(' } }, 'asking');
    expect([status, body.code]).toEqual([422, 'invalid_arguments']);
    expect(await typesOf(body)).toEqual(['call.submitted', 'call.end']);
  });

  it('refuses at the limits before asking a person, and queues nothing', async () => {
    const { status, body } = await refused({ tool: 'file_write', arguments: { path: 'a', content: 'b' } }, 'asking');
    expect([status, body.code]).toEqual([429, 'quota_exceeded']);
    expect(await typesOf(body)).toEqual(['call.submitted', 'call.end']);
  });
});
