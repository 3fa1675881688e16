import { describe, expect, it } from '@jest/globals';
import type { Call, Session, ToolDescriptor } from '#contracts';
import { eventually } from '../../support/eventually.js';
import type { SubAgentInstallation } from './crew.contract.js';

/** Agent whose policy enables the feature. */
const CONDUCTOR = 'conductor';
const policy = { features: ['session_management'] };
const ECHO_TWICE = { rates: [{ per: 'session', calls: 2, windowMs: 3_600_000, tools: ['echo'] }] };
export const CONDUCTORS = { [CONDUCTOR]: { policy }, metered: { policy, limits: ECHO_TWICE } };

const jsonOf = ({ result, error }: Call): unknown => (result?.content[0]?.type === 'json' ? result.content[0].json : (error ?? result));

/** Sessions that an agent begins for sub-agents. */
export function spawnedContract(started: SubAgentInstallation): void {
  const run = async (command: string, args: object, of: object = {}) => {
    const call = { sessionId: 'stage', agentId: CONDUCTOR, userId: 'ann', ...of };
    return jsonOf(await started().agent.run('session_management', { command, ...args }, call));
  };
  const spawn = async (name: string, of: object = {}) =>
    (await run('spawn_session', { agent_name: 'helper', task: 'Play', name }, of)) as { session_id: string; call_id: string };
  /** Each request to the model of helper is answered when `proceed` is called: by a call, then by a text. */
  const hold = () => {
    let proceed = () => {};
    const until = new Promise<void>((resolve) => (proceed = resolve));
    const echo = { toolCalls: [{ id: 'a', name: 'echo', arguments: { text: 'x' } }], until };
    started().models.on('helper', (_call, n) => (n === 0 ? echo : { text: 'Played.', until }));
    return proceed;
  };

  describe('session_management', () => {
    it('offers no session_management until a policy names its feature, and refuses calls of it [AV-14]', async () => {
      const { agent } = started();
      const names = async (query: string) =>
        (await agent.get<{ tools: ToolDescriptor[] }>(`/v1/tools${query}`)).body.tools.map(({ name }) => name);
      expect(await names('')).not.toContain('session_management');
      expect(await names('?dialect=kiro')).not.toContain('session_management');
      expect(await names(`?agentId=${CONDUCTOR}`)).toContain('session_management');
      expect(await run('list_sessions', {}, { agentId: undefined })).toMatchObject({ message: expect.stringContaining('policy.features') });
    });

    it('begins a session that its messages steer, and hides its result from other users and sessions [TB-97]', async () => {
      const { agent, models } = started();
      await agent.request('PUT', '/v1/sessions/stage', { tools: ['helper', 'echo', 'session_*'] });
      const proceed = hold();
      const { session_id, call_id } = await spawn('violin');
      expect(await run('list_sessions', { filter: 'running' })).toMatchObject([{ session_id, name: 'violin', state: 'running' }]);
      expect(await run('send_message', { target: 'violin', message: 'Play softly' })).toMatchObject({ delivered: true, waiting: 1 });
      expect(await run('spawn_session', { agent_name: 'helper', task: 'x', name: 'violin' })).toMatchObject({ code: 'invalid_arguments' });
      for (const other of [{ userId: 'bob' }, { sessionId: 'pit' }]) {
        expect(await run('list_sessions', {}, other)).toEqual([]);
        for (const command of ['send_message', 'get_session_status', 'interrupt'])
          expect(await run(command, { target: session_id, message: 'x' }, other)).toMatchObject({
            message: expect.stringContaining('began no session'),
          });
      }
      proceed();
      expect((await agent.ended(call_id)).outcome).toBe('completed');
      expect(JSON.stringify(models.calls('helper').at(-1)?.body.messages)).toContain('Play softly');
      expect(await run('get_session_status', { target: 'violin' })).toMatchObject({
        state: 'ended',
        outcome: 'completed',
        result: 'Played.',
      });
      const inbox = await run('read_messages', {}, { sessionId: session_id });
      expect(inbox).toMatchObject([{ message: 'Play softly', from: 'session:stage', taken: true }]);
      expect((await agent.get<Session>(`/v1/sessions/${session_id}`)).body.tools).toEqual(['helper', 'echo', 'session_*']);
    });

    it('interrupts a session; sessions that it began end when it is cancelled or deleted', async () => {
      const { agent } = started();
      const proceed = hold();
      const [cello, oboe] = [await spawn('cello', { sessionId: 'hall' }), await spawn('oboe', { sessionId: 'hall' })];
      expect(await run('interrupt', { target: 'cello', message: 'Too loud' }, { sessionId: 'hall' })).toMatchObject({ cancelled_calls: 1 });
      expect((await agent.ended(cello.call_id)).outcome).toBe('cancelled');
      expect(await agent.request('POST', '/v1/sessions/hall/cancel', {})).toMatchObject({ status: 202 });
      expect((await agent.ended(oboe.call_id)).outcome).toBe('cancelled');
      const flute = await spawn('flute', { sessionId: 'hall' });
      await agent.request('DELETE', '/v1/sessions/hall');
      expect((await agent.ended(flute.call_id)).outcome).toBe('cancelled');
      proceed();
    });

    it('begins spawned sessions whose calls count for the limits of their starter', async () => {
      const { agent } = started();
      const proceed = hold();
      const of = { agentId: 'metered', sessionId: 'metronome' };
      const { session_id } = await spawn('tick', of);
      const answers = [];
      for (const sessionId of ['metronome', session_id, 'metronome'])
        answers.push((await agent.submit('echo', { text: 'x' }, { ...of, sessionId })).status);
      expect(answers).toEqual([202, 202, 429]);
      await agent.request('DELETE', '/v1/sessions/metronome');
      proceed();
    });

    it('begins at most 8 running spawned sessions, also for many concurrent requests', async () => {
      const proceed = hold();
      const all = await Promise.all(Array.from({ length: 12 }, (_unused, n) => spawn(`n${n}`, { sessionId: 'crowd' })));
      const begun = all.filter(({ session_id }) => session_id !== undefined);
      expect(begun).toHaveLength(8);
      for (const refused of all)
        if (!begun.includes(refused)) expect(refused).toMatchObject({ message: expect.stringContaining('8 sessions') });
      expect(await run('list_sessions', { filter: 'running' }, { sessionId: 'crowd' })).toHaveLength(8);
      await started().agent.request('DELETE', '/v1/sessions/crowd');
      for (const { call_id } of begun) expect((await started().agent.ended(call_id)).outcome).toBe('cancelled');
      proceed();
    });

    it('begins no spawned session for a session deleted since the request', async () => {
      const { agent } = started();
      const proceed = hold();
      const posture = { autonomy: 'supervised', permissionMode: 'prompt' };
      await agent.request('PUT', '/v1/sessions/closed', { posture });
      const args = { command: 'spawn_session', agent_name: 'helper', task: 'Play' };
      const { body: call } = await agent.submit('session_management', args, { sessionId: 'closed', agentId: CONDUCTOR, userId: 'ann' });
      expect(call.status).toBe('waiting_approval');
      await agent.request('DELETE', '/v1/sessions/closed');
      await agent.request('POST', `/v1/calls/${call.id}/decision`, { decision: 'allow', scope: 'once' });
      expect(await agent.ended(call.id)).toMatchObject({ outcome: 'failed', error: { message: expect.stringContaining('was deleted') } });
      expect(await run('list_sessions', {}, { sessionId: 'closed' })).toEqual([]);

      const racing = await Promise.all(
        ['r1', 'r2', 'r3', 'r4'].map(async (sessionId) => {
          const [spawned] = await Promise.all([spawn('solo', { sessionId }), agent.request('DELETE', `/v1/sessions/${sessionId}`)]);
          return spawned;
        }),
      );
      // Asked for after the deletion, it belongs to the next life of the session, whose list has it.
      for (const [n, { session_id, call_id }] of racing.entries()) {
        if (call_id === undefined) continue;
        const sessionId = `r${n + 1}`;
        const listed = JSON.stringify(await run('list_sessions', {}, { sessionId }));
        if (listed.includes(session_id)) await agent.request('DELETE', `/v1/sessions/${sessionId}`);
        expect((await agent.ended(call_id)).outcome).toBe('cancelled');
      }
      proceed();
    });

    it('forbids a spawned session everything forbidden in its starting session from then on', async () => {
      const { agent, models } = started();
      const proceed = hold();
      const { call_id, session_id } = await spawn('harp', { sessionId: 'loft' });
      // Model requests from here on use tools that were offered before.
      await eventually(() => models.calls('helper').length === 1, 'the sub-agent to ask its model');
      await agent.request('PUT', '/v1/sessions/loft', { tools: ['helper', 'session_*'] });
      expect((await agent.submit('echo', {}, { sessionId: session_id })).status).toBe(403);
      proceed();
      expect((await agent.ended(call_id)).outcome).toBe('completed');
      expect(JSON.stringify(models.calls('helper').at(-1)?.body.messages)).toContain("echo is not among this session's tools");
      expect(await spawn('reed', { sessionId: session_id })).toMatchObject({ message: expect.stringContaining('begins none') });
    });

    it('explains to a model of kiro what sessions cannot do', async () => {
      const { agent } = started();
      const of = { dialect: 'kiro', agentId: CONDUCTOR, sessionId: 'stage' };
      const call = await agent.run('sessions', { command: 'manage_group', action: 'create', group: 'g' }, of);
      expect(JSON.stringify(call.result?.content)).toContain('manage_group is not supported');
    });
  });
}
