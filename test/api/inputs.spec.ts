import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import type { Call, Problem } from '#contracts';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const GITHUB = 'ghp_9z8y7x6w5v4u3t2s1r0q9z8y7x6w5v4u3t2s';

/** Agent whose questions require approval. */
const AGENTS = { careful: { policy: { gatePrivileged: true, toolsSettings: { ask_user: { tier: 'privileged' as const } } } } };

let tenant: Tenant;
let stranger: Tenant;
let agent: Agent;
/** The other gateway, with the same key. */
let person: Agent;

beforeAll(async () => {
  tenant = await useTenant('inputs', {
    keys: { own: { scopes: ['submit', 'read'] }, neighbour: { scopes: ['submit', 'read'] } },
    settings: { agents: AGENTS },
  });
  stranger = await useTenant('inputs-stranger');
  ({ agent, other: person } = tenant);
});
afterAll(async () => {
  await tenant?.close();
  await stranger?.close();
});

const give = (id: string, body: object, by = person) => by.request<Call & Omit<Problem, 'status'>>('POST', `/v1/calls/${id}/input`, body);

async function asked(args: object = { question: 'Which branch?', options: ['main', 'next'] }, by = agent): Promise<Call> {
  const { body } = await by.submit('ask_user', args);
  return eventually(async () => {
    const { body: now } = await by.get(`/v1/calls/${body.id}`);
    return now.status === 'waiting_input' ? now : undefined;
  }, 'the call to ask');
}

describe('a call that waits for input', () => {
  it('shows the question of a call that waits for input, lists it, and runs on with a value given at another gateway', async () => {
    const call = await asked();
    expect(call.waiting).toMatchObject({
      reason: 'input',
      detail: 'Waits for input: Which branch?',
      input: { attempt: 1, prompt: 'Which branch?', inputSchema: { type: 'string', enum: ['main', 'next'] } },
    });
    const { body: page } = await agent.get<{ calls: Call[] }>('/v1/calls?status=waiting_input');
    expect(page.calls.map(({ id }) => id)).toEqual([call.id]);
    const { status, body } = await give(call.id, { value: 'next', attempt: 1 });
    expect([status, ['queued', 'running', 'ended'].includes(body.status)]).toEqual([200, true]);
    expect(await agent.ended(call.id)).toMatchObject({
      outcome: 'completed',
      attempt: 2,
      result: { content: [{ type: 'text', text: 'next' }] },
    });
    const events = await agent.events(call.id);
    expect(events.map(({ type }) => type)).toEqual([
      'call.submitted',
      'call.start',
      'call.input_requested',
      'call.input_given',
      'call.start',
      'call.end',
    ]);
    expect(events[3]).toMatchObject({ actor: expect.stringContaining('apikey:'), data: { request: 1, value: 'next' } });
  });

  it('refuses input that does not fit, that is for another question, and a second one; the same one may be repeated', async () => {
    const { id } = await asked();
    const wrong = await give(id, { value: 'other' });
    expect([wrong.status, wrong.body.code, wrong.body.errors?.[0]?.pointer]).toEqual([422, 'invalid_request', '/value']);
    expect((await give(id, { value: 'main', attempt: 2 })).body).toMatchObject({ code: 'conflict' });
    expect((await give(id, { value: 'x'.repeat(70_000) })).status).toBe(413);
    const answers = await Promise.all([give(id, { value: 'main' }), give(id, { value: 'next' }, agent)]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
    const first = answers[0].status === 200 ? 'main' : 'next';
    const ended = await agent.ended(id);
    expect(ended.result?.content).toEqual([{ type: 'text', text: first }]);
    expect((await give(id, { value: first })).status).toBe(200);
    const late = await give(id, { value: first === 'main' ? 'next' : 'main' });
    expect([late.status, late.body.code, late.body.detail]).toEqual([409, 'conflict', expect.stringContaining('has got a value')]);
  });

  it('accepts the input of a call from its own key or an approving one, and hides it from other tenants', async () => {
    const [own, neighbour] = [tenant.agentOf('own'), tenant.agentOf('neighbour')];
    const [one, two] = [await asked(undefined, own), await asked(undefined, own)];
    const refused = await give(one.id, { value: 'main' }, neighbour);
    expect([refused.status, refused.body.code, refused.body.detail]).toEqual([403, 'forbidden', expect.stringContaining('approve')]);
    const unknown = await give(one.id, { value: 'main' }, stranger.agent);
    expect([unknown.status, unknown.body.code]).toEqual([404, 'resource_not_found']);
    expect((await give(one.id, { value: 'main' }, own)).status).toBe(200);
    expect((await give(two.id, { value: 'main' })).status).toBe(200);
  });

  it('hides secrets and large values given as input from every reader', async () => {
    const secret = await asked({ question: 'The token?' });
    expect((await give(secret.id, { value: `token ${GITHUB}` })).status).toBe(200);
    const ended = await agent.ended(secret.id);
    expect(ended.result?.content).toEqual([{ type: 'text', text: 'token [REDACTED]' }]);
    expect(JSON.stringify([ended, await agent.events(secret.id)])).not.toContain(GITHUB);
    const given = (await agent.events(secret.id)).find(({ type }) => type === 'call.input_given');
    const guessed = createHash('sha256')
      .update(JSON.stringify(`token ${GITHUB}`))
      .digest('hex');
    expect(given).toMatchObject({ data: { value: 'token [REDACTED]', stored: { sha256: expect.not.stringContaining(guessed) } } });
    expect((await give(secret.id, { value: `token ${GITHUB}` })).status).toBe(200);
    expect((await give(secret.id, { value: `token ${GITHUB}x` })).status).toBe(409);
    const large = await asked({ question: 'Much?' });
    expect((await give(large.id, { value: 'x'.repeat(12_000) })).status).toBe(200);
    expect((await agent.ended(large.id)).result?.content).toEqual([{ type: 'text', text: 'x'.repeat(12_000) }]);
  });

  it('accepts input over WebSocket, and cancels a call that waits for it', async () => {
    const [one, two] = [await asked(), await asked()];
    const stream = await agent.stream();
    stream.send({ op: 'input', id: 'i', callId: one.id, value: 'main' });
    expect(await stream.frame('ok', 'i')).toMatchObject({ op: 'ok', call: { id: one.id } });
    stream.close();
    expect((await agent.ended(one.id)).outcome).toBe('completed');
    await agent.request('POST', `/v1/calls/${two.id}/cancel`);
    expect(await agent.ended(two.id)).toMatchObject({ outcome: 'cancelled', error: { code: 'cancelled' } });
    const end = (await agent.events(two.id)).at(-1);
    expect(end).toMatchObject({ type: 'call.end', data: { stopped: { how: 'stopped', tookMs: 0 } } });
    expect((await give(two.id, { value: 'main' })).body).toMatchObject({ code: 'conflict' });
  });

  it('accepts approval by one person and input by another, and ends the call once', async () => {
    const { body: call } = await agent.submit('ask_user', { question: 'Which branch?' }, { agentId: 'careful' });
    expect(call).toMatchObject({ status: 'waiting_approval', approval: { reasons: [expect.stringContaining('privileged')] } });
    expect((await give(call.id, { value: 'early' })).body).toMatchObject({ code: 'conflict' });
    expect((await person.request('POST', `/v1/calls/${call.id}/decision`, { decision: 'allow' })).status).toBe(200);
    await eventually(async () => (await agent.get(`/v1/calls/${call.id}`)).body.status === 'waiting_input', 'the call to ask');
    expect((await give(call.id, { value: 'next' })).status).toBe(200);
    expect(await agent.ended(call.id)).toMatchObject({ outcome: 'completed', result: { content: [{ type: 'text', text: 'next' }] } });
    expect((await agent.events(call.id)).map(({ type }) => type)).toEqual([
      'call.submitted',
      'call.approval_requested',
      'call.approval_decided',
      'call.start',
      'call.input_requested',
      'call.input_given',
      'call.start',
      'call.end',
    ]);
  });
});
