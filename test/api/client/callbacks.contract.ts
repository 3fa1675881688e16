import { expect, it } from '@jest/globals';
import type { ToolCallbacks, ToolyardClient, ToolyardError } from '#client';
import { eventually } from '../../support/eventually.js';
import type { HeldCalls } from '../../support/installation/held-calls.js';

/** Functions of an agent's own process around its calls. `held`: of the tenant of the client. */
export function callbacksContract(
  client: () => ToolyardClient,
  errorOf: (promise: Promise<unknown>) => Promise<ToolyardError>,
  held: () => HeldCalls,
): void {
  it('calls callbacks before and after a call and at each step, of a call and of a batch [RP-21]', async () => {
    const sessionId = 'client-callbacks';
    const seen: string[] = [];
    const tiers = new Map((await client().tools.list()).map(({ name, tier }) => [name, tier]));
    const callbacks: ToolCallbacks = {
      before: async ({ name }) => (tiers.get(name) === 'privileged' ? `The agent does not use ${name}` : undefined),
      update: ({ name }, { status, callId }) => {
        // A quick call of a batch may have ended before its first step is seen.
        if (name !== 'sleep') return false;
        seen.push(`${name} ${status}`);
        if (status === 'running') void client().calls.cancel(callId);
        return false;
      },
      after: ({ id }, { outcome }) => void seen.push(`${id} ${outcome}`),
    };
    const call = (id: string, name: string, args: object) => ({ id, name, arguments: JSON.stringify(args) });
    const commands = call('call_a', 'shell', { command: 'true' });
    const reading = call('call_b', 'file_read', { path: 'none' });
    expect(await client().execute(commands.name, commands.arguments, { sessionId, callbacks })).toBe('The agent does not use shell');
    const { results } = await client().executeAll([commands, reading], { sessionId, callbacks });
    expect(results.map(({ toolCallId, callId }) => `${toolCallId} ${callId !== undefined}`)).toEqual(['call_a false', 'call_b true']);
    expect((await client().executeAll([commands], { sessionId, callbacks })).results).toHaveLength(1);
    await client().execute('sleep', '{"duration_ms":60000}', { sessionId, toolCallId: 'call_c', callbacks });
    expect([seen[0], ...new Set(seen.slice(1))]).toEqual(['call_b failed', 'sleep running', 'call_c cancelled']);
    const { calls } = await client().calls.list({ sessionId });
    expect(calls.map(({ tool }) => tool).sort()).toEqual(['file_read', 'sleep']);
  });

  it('applies changed arguments and answers of callbacks, and submits nothing without their answer in time [RP-21]', async () => {
    const session = { sessionId: 'client-changes' };
    const callbacks: ToolCallbacks = {
      before: async ({ name }) => {
        if (name === 'sleep') await new Promise<never>(() => {});
        return { arguments: { command: 'echo changed; exit 3' } };
      },
      after: async () => ({ feedback: 'Mind the exit code.', isError: true }),
      timeoutMs: 100,
    };
    const asked = { id: 'call_d', name: 'shell', arguments: '{"command":"rm -rf work"}' };
    const text = await client().execute(asked.name, asked.arguments, { ...session, toolCallId: 'call_e', callbacks });
    expect(text).toMatch(/^changed\n[^]*Mind the exit code\.$/);
    const late = { id: 'call_f', name: 'sleep', arguments: '{"duration_ms":1}' };
    const { results } = await client().executeAll([asked, late], { ...session, callbacks });
    expect(results).toMatchObject([
      { text: expect.stringMatching(/^changed[^]*Mind the exit code\.$/), isError: true, toolCallId: 'call_d' },
      { text: 'The agent did not answer within 100 ms whether sleep may be called', isError: true, toolCallId: 'call_f' },
    ]);
    const { calls } = await client().calls.list(session);
    expect(await Promise.all(calls.map(async ({ id }) => (await client().calls.get(id)).arguments))).toMatchObject([
      { command: 'echo changed; exit 3' },
      { command: 'echo changed; exit 3' },
    ]);
    const never = { after: () => new Promise<never>(() => {}), timeoutMs: 50 };
    expect((await errorOf(client().execute('sleep', '{"duration_ms":1}', { ...session, callbacks: never }))).code).toBe('timed_out');
  });

  it('passes the steps of each call of a batch to a callback, also of calls submitted later [RP-21]', async () => {
    const sessionId = 'client-steps';
    const steps: string[] = [];
    const callbacks: ToolCallbacks = {
      update: ({ id, arguments: args }, { status, text }) => steps.push(`${id} ${JSON.stringify(args)} ${status} ${text}`) > 0,
    };
    const calls = [1, 2].map((n) => ({ id: `call_${n}`, name: 'held', arguments: `{"n":${n}}` }));
    const turn = client().executeAll(calls, { sessionId, strategy: { type: 'sequential' }, callbacks });
    for (const n of [1, 2]) {
      const { id } = await eventually(async () => (await client().calls.list({ sessionId, status: 'queued' })).calls[0], `call ${n}`);
      const attempt = await held().claim(id);
      attempt.update(`output of ${n}`);
      const step = `call_${n} {"n":${n}} running output of ${n}`;
      await eventually(() => steps.includes(step), `the step ${step}`);
      await attempt.end(`answer of ${n}`);
    }
    expect((await turn).results.map(({ text }) => text)).toEqual(['answer of 1', 'answer of 2']);
    const seen = steps.length;
    await client().executeAll(calls, { sessionId, strategy: { type: 'sequential' }, callbacks });
    expect(steps).toHaveLength(seen);
  });
}
