import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallEvent, CallEventOf } from '#contracts';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { HookTestCluster, problemOf, type HookTestAgents } from '../support/hook-test-cluster.js';

const GITHUB = 'ghp_0a1b2c3d4e5f6g7h8i9j0a1b2c3d4e5f6g7h';

let hooked: HookTestCluster;
let agent: Agent;

const agentsOf = (files: HookTestCluster): HookTestAgents => {
  const url = (path: string) => `${files.webhooks.url}${path}`;
  return {
    ordered: {
      hooks: [
        { name: 'first', on: 'before', command: 'true' },
        { name: 'second', on: 'before', command: 'exit 1' },
      ],
    },
    denying: {
      hooks: [
        { name: 'first', on: 'before', command: 'true' },
        { name: 'guard', on: 'before', command: `echo 'not with ${GITHUB}' >&2; exit 2` },
        { name: 'never', on: 'before', command: 'true' },
      ],
    },
    verbose: { hooks: [{ name: 'guard', on: 'before', command: 'printf "é%.0s" $(seq 2000) >&2; exit 2', maxOutputBytes: 8_000 }] },
    rewriting: { hooks: [{ name: 'guard', on: 'before', command: 'printf \'{"arguments":{"n":2}}\'' }] },
    caching: { hooks: [{ name: 'guard', on: 'before', command: `echo ran >> ${files.at('before-runs')}`, cacheMs: 60_000 }] },
    'people-first': {
      policy: { hookOrder: 'permission_approval_hooks' },
      hooks: [{ name: 'guard', on: 'before', url: url('/people-first') }],
    },
  };
};

beforeAll(async () => {
  hooked = await HookTestCluster.start(agentsOf);
  ({ agent } = hooked);
});

afterAll(() => hooked?.close());

/** The events of a call as short texts: hook runs as `<hook> <phase>[ <verdict>]`. */
function outline(events: readonly CallEvent[]): string[] {
  return events.map((event) => {
    if (event.type !== 'call.hook') return event.type;
    const { hook, phase, verdict } = event.data;
    return [hook, phase, ...(verdict === undefined ? [] : [verdict])].join(' ');
  });
}

function hookRuns(events: readonly CallEvent[]): CallEventOf<'call.hook'>['data'][] {
  return events.flatMap((event) => (event.type === 'call.hook' ? [event.data] : []));
}

describe('hook runs before a call', () => {
  it('are events after the submission and before the start, with verdict, duration and the failure of a hook [EV-11]', async () => {
    const call = await hooked.runAs('ordered');
    const events = await agent.events(call.id);
    expect(outline(events)).toEqual([
      'call.submitted',
      'first started',
      'first finished allow',
      'second started',
      'second finished allow',
      'call.start',
      'call.end',
    ]);
    expect(events.map(({ callver }) => callver)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(hookRuns(events)).toEqual([
      { phase: 'started', hook: 'first', event: 'before', run: 1, at: expect.any(String) },
      { phase: 'finished', hook: 'first', event: 'before', run: 1, at: expect.any(String), verdict: 'allow', tookMs: expect.any(Number) },
      { phase: 'started', hook: 'second', event: 'before', run: 2, at: expect.any(String) },
      {
        phase: 'finished',
        hook: 'second',
        event: 'before',
        run: 2,
        at: expect.any(String),
        verdict: 'allow',
        failed: true,
        reason: 'Hook `second` exited with status 1',
        tookMs: expect.any(Number),
      },
    ]);
  });

  it('are events of a call that a hook denies: no Start, one End with the message for the model, no secret in a reason [EV-05, EV-11]', async () => {
    const { callId } = problemOf(await hooked.submitAs('denying'));
    const events = await agent.events(callId);
    expect(outline(events)).toEqual([
      'call.submitted',
      'first started',
      'first finished allow',
      'guard started',
      'guard finished deny',
      'call.end',
    ]);
    expect(events.at(-1)?.data).toMatchObject({ outcome: 'denied', result: { isError: true, content: [{ type: 'text' }] } });
    expect(hookRuns(events).at(-1)).toMatchObject({ reason: 'not with [REDACTED]' });
    expect(JSON.stringify(events)).not.toContain(GITHUB);
  });

  it('have a reason of at most 300 characters', async () => {
    const { callId } = problemOf(await hooked.submitAs('verbose'));
    expect(hookRuns(await agent.events(callId)).at(-1)?.reason).toBe('é'.repeat(300));
  });

  it('say that a hook rewrote the arguments', async () => {
    const call = await hooked.runAs('rewriting');
    expect(hookRuns(await agent.events(call.id)).at(-1)).toMatchObject({ verdict: 'allow', rewrote: true });
  });

  it('are one `cached` event where a stored answer is used, and the hook does not run [EV-11, HK-16]', async () => {
    const sessionId = 'hook-events-cache';
    const first = await hooked.runAs('caching', 'echo', { n: 1 }, { sessionId });
    const second = await hooked.runAs('caching', 'echo', { n: 1 }, { sessionId });
    expect(outline(await agent.events(first.id)).slice(1, 3)).toEqual(['guard started', 'guard finished allow']);
    expect(outline(await agent.events(second.id))).toEqual(['call.submitted', 'guard cached allow', 'call.start', 'call.end']);
    expect(hooked.linesOf('before-runs')).toEqual(['ran']);
  });

  it('reach a WebSocket in the order of the log [EV-11]', async () => {
    const stream = await agent.stream();
    stream.send({ op: 'subscribe', id: 's', filter: { agentId: 'ordered' } });
    await stream.frame('subscribed', 's');
    const call = await hooked.runAs('ordered');
    const events = await eventually(() => {
      const seen = stream.events('s').map(({ event }) => event);
      return seen.at(-1)?.type === 'call.end' ? seen : undefined;
    }, 'the End on the socket');
    expect(events).toEqual(await agent.events(call.id));
    expect(outline(events)).toContain('second finished allow');
  });

  it('that come after a person stand before the decision, or before the End of a refusal [EV-11]', async () => {
    const sessionId = 'hook-events-people';
    await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { permissionMode: 'prompt' } });
    const decided = async (answer: object) => {
      hooked.webhooks.on('/people-first', answer);
      const { body: waiting } = await hooked.submitAs('people-first', 'file_write', { path: 'a.txt', content: 'b' }, { sessionId });
      await agent.request('POST', `/v1/calls/${waiting.id}/decision`, { decision: 'allow' });
      return outline(await agent.events((await agent.ended(waiting.id)).id));
    };
    const asked = ['call.submitted', 'call.approval_requested', 'guard started'];
    expect(await decided({})).toEqual([...asked, 'guard finished allow', 'call.approval_decided', 'call.start', 'call.end']);
    expect(await decided({ decision: 'deny' })).toEqual([...asked, 'guard finished deny', 'call.end']);
  });
});
