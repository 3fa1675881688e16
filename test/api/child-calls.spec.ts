import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call, Problem, Quote } from '#contracts';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

let tenant: Tenant;
let strict: Tenant;
let rival: Tenant;
let agent: Agent;
beforeAll(async () => {
  tenant = await useTenant('child-calls', { held: true });
  strict = await useTenant('child-calls-strict', { held: true, settings: { limits: { treeCalls: 2, treeDepth: 1 } } });
  rival = await useTenant('child-calls-rival');
  ({ agent } = tenant);
});
afterAll(async () => {
  await tenant?.close();
  await strict?.close();
  await rival?.close();
});

/** A call that runs, as one that may make calls does. */
async function running(more: object = {}, { agent: by, held } = tenant): Promise<Call> {
  const { body } = await by.submit('held', {}, { ...more });
  await held.claim(body.id);
  return body;
}
const child = (parentCallId: string, more: object = {}, by = agent) =>
  by.request<Call & Omit<Problem, 'status'>>('POST', '/v1/calls', { tool: 'held', arguments: {}, parentCallId, ...more });

describe('a call that another call makes', () => {
  it('reports the parent and the root of a child call, in their session, agent and partition', async () => {
    const root = await running({ sessionId: 'family', agentId: 'mother' });
    const { body: first } = await child(root.id);
    expect(first).toMatchObject({ parentCallId: root.id, rootCallId: root.id, sessionId: 'family', agentId: 'mother', status: 'queued' });
    await tenant.held.claim(first.id);
    const { body: second } = await child(first.id);
    expect(second).toMatchObject({ parentCallId: first.id, rootCallId: root.id, sessionId: 'family' });
    expect((await agent.get(`/v1/calls/${second.id}`)).body).toMatchObject({ parentCallId: first.id, rootCallId: root.id });
    expect(new Set([root, first, second].map(({ id }) => id.slice(0, id.indexOf('-')))).size).toBe(1);
    const [submitted] = await agent.events(second.id);
    expect(submitted).toMatchObject({ type: 'call.submitted', data: { parentCallId: first.id, rootCallId: root.id, depth: 2 } });
  });

  it('accepts a child call over WebSocket as well', async () => {
    const root = await running();
    const stream = await agent.stream();
    stream.send({ op: 'submit', id: 1, call: { tool: 'held', parentCallId: root.id } });
    expect((await stream.frame('accepted', 1)).call).toMatchObject({ parentCallId: root.id, rootCallId: root.id });
    stream.send({ op: 'submit', id: 2, call: { tool: 'echo', parentCallId: '00-01JZ8C5W3Q4X9R7T2M6K8N0P1V' } });
    expect((await stream.frame('error', 2)).problem.code).toBe('resource_not_found');
    stream.close();
  });

  it('requires a running parent of the same tenant for a child call', async () => {
    const { body: waiting } = await agent.submit('held', {});
    const early = await child(waiting.id);
    expect([early.status, early.body.code, early.body.detail]).toEqual([
      409,
      'conflict',
      expect.stringContaining('the parent call is queued'),
    ]);
    await tenant.held.run(waiting.id);
    expect((await child(waiting.id)).body.detail).toContain('the parent call is ended');
    const root = await running();
    expect((await child(root.id, {}, rival.agent)).status).toBe(404);
    expect((await child('nonsense')).status).toBe(422);
  });

  it('refuses a child call of another session or agent than its parent', async () => {
    const root = await running({ sessionId: 'one' });
    const moved = await child(root.id, { sessionId: 'two' });
    expect([moved.status, moved.body.errors]).toEqual([
      422,
      [{ pointer: '/sessionId', message: 'expected one, as of the parent call, or nothing' }],
    ]);
    expect((await child(root.id, { agentId: 'another' })).status).toBe(422);
    expect((await child(root.id, { sessionId: 'one' })).status).toBe(202);
  });

  it('limits a child call to the remaining time of its parent', async () => {
    const root = await running({ timeouts: { runMs: 600_000, totalMs: 900_000 } });
    const { body } = await child(root.id, { timeouts: { totalMs: 3_600_000, queueMs: 3_600_000 } });
    const { body: short } = await child(root.id, { timeouts: { totalMs: 5_000 } });
    expect(body.timeouts.totalMs).toBeLessThanOrEqual(600_000);
    expect(body.timeouts.totalMs).toBeGreaterThan(300_000);
    expect(body.timeouts.queueMs).toBeLessThanOrEqual(600_000);
    expect(short.timeouts.totalMs).toBe(5_000);
  });

  it('refuses a child call beyond the size or depth of its tree, also in a quote', async () => {
    const root = await running({}, strict);
    const first = await child(root.id, {}, strict.agent);
    expect(first.status).toBe(202);
    await strict.held.claim(first.body.id);
    const deep = await child(first.body.id, {}, strict.agent);
    expect([deep.status, deep.body.code, deep.body.detail]).toEqual([
      429,
      'quota_exceeded',
      expect.stringContaining('the depth of the call in its tree is 2, at most 1 is allowed'),
    ]);
    expect((await child(root.id, {}, strict.agent)).status).toBe(202);
    const third = await child(root.id, {}, strict.agent);
    expect([third.status, third.body.detail]).toEqual([429, expect.stringContaining(`2 of 2 calls of the tree below call ${root.id}`)]);
    const { body } = await strict.agent.request<Quote>('POST', '/v1/calls:quote', { tool: 'echo', parentCallId: root.id });
    expect(body.decision?.reasons.map(({ rule, effect }) => [rule, effect])).toEqual(
      expect.arrayContaining([
        ['tree-depth', 'allow'],
        ['tree-calls', 'deny'],
      ]),
    );
  });

  it('allows three levels of child calls by default', async () => {
    let above = await running();
    for (let depth = 1; depth <= 3; depth++) {
      const { status, body } = await child(above.id);
      expect([depth, status]).toEqual([depth, 202]);
      await tenant.held.claim(body.id);
      above = body;
    }
    expect((await child(above.id)).status).toBe(429);
  });

  it('cancels a child call with its parent, and its own children with it [CC-22, EX-24]', async () => {
    const root = await running();
    const { body: middle } = await child(root.id);
    await tenant.held.claim(middle.id);
    const { body: queued } = await child(root.id);
    const { body: leaf } = await child(middle.id);
    const { body: stranger } = await agent.submit('held', {});
    expect((await agent.request('POST', `/v1/calls/${root.id}/cancel`, { reason: 'enough' })).status).toBe(202);
    for (const { id } of [queued, leaf])
      expect((await agent.get(`/v1/calls/${id}`)).body).toMatchObject({ outcome: 'cancelled', error: { message: 'Cancelled: enough' } });
    for (const { id } of [root, middle]) {
      const requested = (await agent.events(id)).filter(({ type }) => type === 'call.cancel_requested');
      expect(requested).toHaveLength(1);
    }
    expect((await agent.get(`/v1/calls/${stranger.id}`)).body.status).toBe('queued');
    expect((await child(root.id)).body.detail).toContain('the parent call is being cancelled');
  });

  it('leaves no child call running that was on its way when its parent was cancelled [EX-24]', async () => {
    for (let round = 0; round < 25; round++) {
      const root = await running();
      const [children] = await Promise.all([
        Promise.all(Array.from({ length: 4 }, () => child(root.id))),
        agent.request('POST', `/v1/calls/${root.id}/cancel`),
      ]);
      for (const { status, body } of children) {
        if (status === 409) continue;
        expect(status).toBe(202);
        await eventually(
          async () => (await agent.get(`/v1/calls/${body.id}`)).body.outcome === 'cancelled',
          `call ${body.id} to be cancelled`,
        );
      }
    }
  });
});
