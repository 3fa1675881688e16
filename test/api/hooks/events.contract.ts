import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Batch, CallDebugLog, CallEvent, CallEventOf } from '#contracts';
import type { Agent } from '../../support/agent.js';
import { eventually } from '../../support/eventually.js';
import { type HookTenant, problemOf, type HookTestAgents } from '../../support/hook-tenant.js';

const GITHUB = 'ghp_0a1b2c3d4e5f6g7h8i9j0a1b2c3d4e5f6g7h';

export const eventAgents = (files: HookTenant): HookTestAgents => {
  const url = (path: string) => `${files.webhooks.url}${path}`;
  return {
    ordered: {
      hooks: [
        { name: 'first', on: 'before', command: 'true' },
        { name: 'second', on: 'before', command: 'exit 1' },
      ],
    },
    'events-denying': {
      hooks: [
        { name: 'first', on: 'before', command: 'true' },
        { name: 'guard', on: 'before', command: `echo 'not with ${GITHUB}' >&2; exit 2` },
        { name: 'never', on: 'before', command: 'true' },
      ],
    },
    verbose: { hooks: [{ name: 'guard', on: 'before', command: 'printf "é%.0s" $(seq 2000) >&2; exit 2', maxOutputBytes: 8_000 }] },
    'events-rewriting': { hooks: [{ name: 'guard', on: 'before', command: 'printf \'{"arguments":{"n":2}}\'' }] },
    injecting: {
      hooks: [
        {
          name: 'guard',
          on: 'before',
          command: `printf '{"arguments":{"password":"hunter2-prod-77"},"reason":"added hunter2-prod-77"}'`,
        },
      ],
    },
    'events-caching': { hooks: [{ name: 'guard', on: 'before', command: `echo ran >> ${files.at('before-runs')}`, cacheMs: 60_000 }] },
    reviewed: {
      hooks: [
        { name: 'check', on: 'before', command: 'true' },
        { name: 'lint', on: 'after', command: 'printf fine' },
        { name: 'review', on: 'after', command: `echo 'contains ${GITHUB}' >&2; exit 2` },
        { name: 'archive', on: 'after_end', command: `echo ended >> ${files.at('ended')}` },
      ],
    },
    timed: {
      hooks: [
        { name: 'before', on: 'before', module: files.at('timed.mjs') },
        { name: 'after', on: 'after', module: files.at('timed.mjs') },
      ],
    },
    'caching-after': { hooks: [{ name: 'lint', on: 'after', command: `echo ran >> ${files.at('after-runs')}`, cacheMs: 60_000 }] },
    'events-cancelled': { hooks: [{ name: 'lint', on: 'after', command: files.sleeper('events-stopped-pids'), timeoutMs: 60_000 }] },
    'events-updates': {
      hooks: [
        { name: 'filter', on: 'before_update', command: 'true' },
        { name: 'mirror', on: 'after_update', command: 'true' },
      ],
    },
    'events-people-first': {
      policy: { hookOrder: 'permission_approval_hooks' },
      hooks: [{ name: 'guard', on: 'before', url: url('/events-people-first') }],
    },
  };
};

/** Runs of hooks as events of their call. */
export function hookEventsContract(started: () => HookTenant): void {
  let hooked: HookTenant;
  let agent: Agent;
  beforeAll(() => {
    hooked = started();
    ({ agent } = hooked);
  });

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
    it('records hook runs after the submission and before the start, with verdict, duration and the failure of a hook [EV-11]', async () => {
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

    it('records hook runs of a denied call: no Start, one End with the message for the model, no secret in a reason [EV-05, EV-11]', async () => {
      const { callId } = problemOf(await hooked.submitAs('events-denying'));
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

    it('cuts the reason of a hook run to 300 characters', async () => {
      const { callId } = problemOf(await hooked.submitAs('verbose'));
      expect(hookRuns(await agent.events(callId)).at(-1)?.reason).toBe('é'.repeat(300));
    });

    it('records that a hook rewrote the arguments', async () => {
      const call = await hooked.runAs('events-rewriting');
      expect(hookRuns(await agent.events(call.id)).at(-1)).toMatchObject({ verdict: 'allow', rewrote: true });
    });

    it('hides a secret that the hook wrote into the arguments and named in its reason', async () => {
      const call = await hooked.runAs('injecting');
      const events = await agent.events(call.id);
      expect(hookRuns(events).at(-1)).toMatchObject({ rewrote: true, reason: 'added [REDACTED]' });
      expect(JSON.stringify(events.filter(({ type }) => type !== 'call.end'))).not.toContain('hunter2');
    });

    it('records one `cached` event for a stored answer, without running the hook before a call [EV-11, HK-16]', async () => {
      const sessionId = 'hook-events-cache';
      const first = await hooked.runAs('events-caching', 'echo', { n: 1 }, { sessionId });
      const second = await hooked.runAs('events-caching', 'echo', { n: 1 }, { sessionId });
      expect(outline(await agent.events(first.id)).slice(1, 3)).toEqual(['guard started', 'guard finished allow']);
      expect(outline(await agent.events(second.id))).toEqual(['call.submitted', 'guard cached allow', 'call.start', 'call.end']);
      expect(hooked.linesOf('before-runs')).toEqual(['ran']);
    });

    it('sends hook runs to a WebSocket in the order of the log [EV-11]', async () => {
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

    it('records hook runs after a person before the decision, or before the End of a refusal [EV-11]', async () => {
      const sessionId = 'hook-events-people';
      await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { permissionMode: 'prompt' } });
      const decided = async (answer: object) => {
        hooked.webhooks.on('/events-people-first', answer);
        const { body: waiting } = await hooked.submitAs(
          'events-people-first',
          'file_write',
          { path: 'a.txt', content: 'b' },
          { sessionId },
        );
        await agent.request('POST', `/v1/calls/${waiting.id}/decision`, { decision: 'allow' });
        return outline(await agent.events((await agent.ended(waiting.id)).id));
      };
      const asked = ['call.submitted', 'call.approval_requested', 'guard started'];
      expect(await decided({})).toEqual([...asked, 'guard finished allow', 'call.approval_decided', 'call.start', 'call.end']);
      expect(await decided({ decision: 'deny' })).toEqual([...asked, 'guard finished deny', 'call.end']);
    });

    it.each([
      ['is cancelled', 'cancel', {}, 'cancelled'],
      ['is denied by another person', 'decision', { decision: 'deny' }, 'denied'],
    ])('records hook runs after an approval when the call %s during a run [EV-11]', async (_what, route, body, outcome) => {
      const sessionId = hooked.newSession('hook-events-cut');
      await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { permissionMode: 'prompt' } });
      const asked = new Promise<void>((resolve) => hooked.webhooks.on('/events-people-first', () => resolve()));
      const write = ['file_write', { path: 'a.txt', content: 'b' }, { sessionId }] as const;
      const { body: waiting } = await hooked.submitAs('events-people-first', ...write);
      const allowed = agent.request('POST', `/v1/calls/${waiting.id}/decision`, { decision: 'allow' });
      await asked;
      expect((await agent.request('POST', `/v1/calls/${waiting.id}/${route}`, body)).status).toBeLessThan(300);
      expect(await allowed).toMatchObject({ status: 409 });
      expect((await agent.ended(waiting.id)).outcome).toBe(outcome);
      const decided = route === 'decision' ? ['call.approval_decided'] : [];
      const before = ['call.submitted', 'call.approval_requested', 'guard started'];
      expect(outline(await agent.events(waiting.id))).toEqual([...before, ...decided, 'call.end']);
    });

    /** A batch of two calls that end together, both waiting for a person; the first is allowed and held. */
    async function heldCall(first: object = {}): Promise<[held: string, other: string]> {
      const sessionId = hooked.newSession('hook-events-batch');
      await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { permissionMode: 'prompt' } });
      hooked.webhooks.on('/events-people-first', {});
      const write = { tool: 'file_write', arguments: { path: 'a.txt', content: 'b' } };
      const calls = [{ ...write, ...first }, write];
      const body = { sessionId, agentId: 'events-people-first', onFailure: 'abort', strategy: { type: 'parallel' }, calls };
      const { body: batch } = await agent.request<Batch>('POST', '/v1/batches', body);
      const [held = '', other = ''] = await eventually(async () => {
        const { results } = (await agent.get<Batch>(`/v1/batches/${batch.id}`)).body;
        return results.every(({ status }) => status === 'waiting_approval') ? results.map(({ callId }) => callId ?? '') : undefined;
      }, 'the questions');
      expect((await agent.request('POST', `/v1/calls/${held}/decision`, { decision: 'allow' })).status).toBe(200);
      return [held, other];
    }
    const ran = ['call.submitted', 'call.approval_requested', 'guard started', 'guard finished allow'];

    it('records hook runs after an approval of a batch call when a denial ends the batch [EV-11]', async () => {
      const [held, other] = await heldCall();
      expect(outline(await agent.events(held))).toEqual(ran);
      await agent.request('POST', `/v1/calls/${other}/decision`, { decision: 'deny' });
      expect((await agent.ended(held)).outcome).toBe('cancelled');
      expect(outline(await agent.events(held))).toEqual([...ran, 'call.end']);
    });

    it('records hook runs after an approval of a batch call when the call runs [EV-11]', async () => {
      const [held, other] = await heldCall();
      await agent.request('POST', `/v1/calls/${other}/decision`, { decision: 'allow' });
      expect((await agent.ended(held)).outcome).toBe('completed');
      expect(outline(await agent.events(held))).toEqual([...ran, 'call.approval_decided', 'call.start', 'call.end']);
    });

    it('records hook runs after an approval of a batch call when the call is cancelled [EV-11]', async () => {
      const [held] = await heldCall();
      await agent.request('POST', `/v1/calls/${held}/cancel`, {});
      expect((await agent.ended(held)).outcome).toBe('cancelled');
      expect(outline(await agent.events(held))).toEqual([...ran, 'call.end']);
    });

    it('records hook runs after an approval of a batch call when it expires before the other decisions [EV-11]', async () => {
      const [held] = await heldCall({ timeouts: { totalMs: 10_000 } });
      expect((await agent.ended(held)).error).toMatchObject({ code: 'approval_expired' });
      expect(outline(await agent.events(held))).toEqual([...ran, 'call.end']);
    });

    it('answers a second approval of a deferred call with a conflict, without running hooks again [EV-11]', async () => {
      const [held] = await heldCall();
      expect(await agent.request('POST', `/v1/calls/${held}/decision`, { decision: 'allow' })).toMatchObject({ status: 409 });
      expect(hookRuns(await agent.events(held)).map(({ run }) => run)).toEqual([1, 1]);
    });
  });

  describe('hook runs in the worker', () => {
    it('records hook runs of the worker between Start and End, without secrets, and none of a hook that watches the End [EV-11, EV-15, HK-08]', async () => {
      const call = await hooked.runAs('reviewed');
      const events = await agent.events(call.id);
      expect(outline(events)).toEqual([
        'call.submitted',
        'check started',
        'check finished allow',
        'call.start',
        'lint started',
        'lint finished allow',
        'review started',
        'review finished deny',
        'call.end',
      ]);
      const { body: debug } = await agent.get<CallDebugLog>(`/v1/calls/${call.id}/debug`);
      const steps = debug.entries.map(({ step, text, attempt = 0 }) => `${attempt} ${step} ${text}`);
      expect(steps.slice(0, 10).map((step) => step.split(/[ ,:]/)[2])).toEqual(
        'memory lineage evaluate identify hooks limits redact compose watch accept'.split(' '),
      );
      expect(debug.entries.find(({ text }) => text.startsWith('hooks'))?.tookMs).toBeGreaterThan(0);
      expect(steps).toEqual(
        expect.arrayContaining([
          '0 policy decision: allow',
          expect.stringMatching(/^0 dispatch stored for the queue /),
          '0 hook check (before) finished: allow',
          expect.stringMatching(/^1 attempt claimed by .+ with fence 1$/),
          expect.stringMatching(/^1 hook review \(after\) finished: deny; contains /),
        ]),
      );
      expect(steps.at(-1)).toMatch(/^1 end completed: 1 attempts/);
      expect(JSON.stringify(debug)).not.toContain(GITHUB);
      expect(events.filter(({ type }) => type === 'call.hook').map(({ attempt, fence }) => [attempt, fence])).toEqual([
        ...[0, 0].map(() => [0, 0]),
        ...[1, 2, 3, 4].map(() => [1, 1]),
      ]);
      expect(hookRuns(events).at(-1)).toMatchObject({ event: 'after', run: 2, reason: 'contains [REDACTED]', tookMs: expect.any(Number) });
      await eventually(() => (hooked.linesOf('ended').length > 0 ? true : undefined), 'the hook of the End');
      expect(await agent.events(call.id)).toEqual(events);
    });

    it('ends hook runs before Start or End is written, in each of 100 calls at once [EV-15, HK-08]', async () => {
      writeFileSync(
        hooked.at('timed.mjs'),
        `import { appendFileSync } from 'node:fs';
         import { setTimeout } from 'node:timers/promises';
         export default async ({ call_id, hook_event_name }) => {
           await setTimeout(20);
           appendFileSync('${hooked.at('timed')}', [call_id, hook_event_name, Date.now()].join(' ') + '\\n');
         };`,
      );
      const ids = await Promise.all(Array.from({ length: 100 }, async (_unused, n) => (await hooked.runAs('timed', 'echo', { n })).id));
      const overAt = new Map(hooked.linesOf('timed').map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ')[2])]));
      for (const id of ids) {
        const events = await agent.events(id);
        const hook = (name: string) => [`${name} started`, `${name} finished allow`];
        expect(outline(events)).toEqual(['call.submitted', ...hook('before'), 'call.start', ...hook('after'), 'call.end']);
        const [start = 0, end = 0] = ['call.start', 'call.end'].map((type) =>
          Date.parse(events.find((it) => it.type === type)?.time ?? ''),
        );
        expect(overAt.get(`${id} PreToolUse`)).toBeLessThanOrEqual(start);
        expect(overAt.get(`${id} PostToolUse`)).toBeLessThanOrEqual(end);
      }
    });

    it('records one `cached` event for a stored answer in the worker [EV-11, HK-16]', async () => {
      const sessionId = 'hook-events-cache-after';
      const run = async () => outline(await agent.events((await hooked.runAs('caching-after', 'echo', { n: 1 }, { sessionId })).id));
      expect(await run()).toEqual(['call.submitted', 'call.start', 'lint started', 'lint finished allow', 'call.end']);
      expect(await run()).toEqual(['call.submitted', 'call.start', 'lint cached allow', 'call.end']);
      expect(hooked.linesOf('after-runs')).toEqual(['ran']);
    });

    it('records a hook run as `stopped` when the call is cancelled while the hook runs [EV-11]', async () => {
      const { body: call } = await hooked.submitAs('events-cancelled');
      await hooked.pidsIn('events-stopped-pids');
      // The hook runs while its first event is written.
      await eventually(async () => outline(await agent.events(call.id)).length === 3, 'the start of the hook in the log');
      expect(outline(await agent.events(call.id))).toEqual(['call.submitted', 'call.start', 'lint started']);
      await agent.request('POST', `/v1/calls/${call.id}/cancel`, {});
      await agent.ended(call.id);
      expect(outline(await agent.events(call.id))).toEqual([
        'call.submitted',
        'call.start',
        'lint started',
        'call.cancel_requested',
        'lint finished stopped',
        'call.end',
      ]);
    });

    it('records hook runs around each update; the digest of the End covers the updates alone [EV-11]', async () => {
      const call = await hooked.runAs('events-updates', 'shell', { command: 'echo one' });
      const events = await agent.events(call.id);
      expect(outline(events)).toEqual([
        'call.submitted',
        'call.start',
        'filter started',
        'filter finished allow',
        'call.update',
        'mirror started',
        'mirror finished allow',
        'call.end',
      ]);
      expect(events.at(-1)?.data).toMatchObject({ updates: { count: 1 } });
    });
  });
}
