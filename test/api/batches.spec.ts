import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Batch, Call, CallEvent, Problem, Session, SessionCancelled, SessionMessages, Steered } from '#contracts';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

let sessions = 0;

describe('batches', () => {
  let tenant: Tenant;
  let stranger: Tenant;
  let agent: Agent;
  beforeAll(async () => {
    tenant = await useTenant('batches', { held: true });
    stranger = await useTenant('batches-stranger');
    agent = tenant.agent;
  });
  afterAll(async () => {
    await tenant?.close();
    await stranger?.close();
  });

  const read = { tool: 'held', arguments: { n: 1 } };
  const write = { tool: 'held_write', arguments: {} };
  const newSession = () => `s${++sessions}`;
  const submit = async (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
    agent.request<Batch>('POST', '/v1/batches', body, headers);
  const look = async (id: string) => (await agent.get<Batch>(`/v1/batches/${id}`)).body;
  const ended = (id: string) =>
    eventually(async () => {
      const { body } = await agent.get<Batch>(`/v1/batches/${id}?wait=10`);
      return body.status === 'ended' ? body : undefined;
    }, `batch ${id} to end`);
  const texts = (batch: Batch) =>
    batch.results.map(({ result }) => result?.content.map((item) => (item.type === 'text' ? item.text : item.type)).join(' '));
  const said = async (sessionId: string) => (await agent.get<SessionMessages>(`/v1/sessions/${sessionId}/steering`)).body.messages;
  const steer = (sessionId: string, message: string) => agent.request<Steered>('POST', `/v1/sessions/${sessionId}/steer`, { message });

  /** Waits until exactly these calls of the batch are queued, the others pending or ended, and answers their ids. */
  const queued = (id: string, indexes: number[]): Promise<string[]> =>
    eventually(
      async () => {
        const { results } = await look(id);
        const found = results.filter(({ status }) => status === 'queued').map(({ index }) => index);
        if (found.length > indexes.length) throw new Error(`calls ${found.join(', ')} are queued, expected ${indexes.join(', ')}`);
        return found.join() === indexes.join() ? indexes.map((index) => results[index]?.callId ?? '') : undefined;
      },
      `calls ${indexes.join(', ')} of the batch to be queued`,
    );
  const runAll = async (callIds: string[]) => {
    for (const callId of callIds) await tenant.held.run(callId, `ran ${callId}`);
  };

  it('runs the calls of a sequential batch one after another [EX-02]', async () => {
    const { status, headers, body } = await submit({
      strategy: { type: 'sequential' },
      sessionId: newSession(),
      calls: [read, read, read],
    });
    expect([status, headers.get('location'), body.status]).toEqual([202, `/v1/batches/${body.id}`, 'running']);
    for (const index of [0, 1, 2]) await runAll(await queued(body.id, [index]));
    const batch = await ended(body.id);
    expect(batch.results.map(({ index, outcome }) => [index, outcome])).toEqual([
      [0, 'completed'],
      [1, 'completed'],
      [2, 'completed'],
    ]);
    expect(texts(batch)).toEqual(batch.results.map(({ callId }) => `ran ${callId}`));
  });

  it('runs all calls of a parallel batch at once, and answers in call order whichever ends first [DX-06, EX-03]', async () => {
    const { body } = await submit({ strategy: { type: 'parallel' }, sessionId: newSession(), calls: [read, write, read] });
    const ids = await queued(body.id, [0, 1, 2]);
    await runAll(ids.toReversed());
    const batch = await ended(body.id);
    expect(texts(batch)).toEqual(ids.map((id) => `ran ${id}`));
  });

  it('runs side effects one after another when the calls of a parallel batch shall not overlap in them [EX-11]', async () => {
    const { body } = await submit({ strategy: { type: 'parallel', serializeSideEffects: true }, calls: [write, read, write] });
    const [first = '', second = ''] = await queued(body.id, [0, 1]);
    // The worker of the test may get the second call together with the first.
    await runAll([first, second]);
    await runAll(await queued(body.id, [2]));
    expect((await ended(body.id)).results[1]?.callId).toBe(second);
  });

  it('runs a number of calls at once in a batched batch, then the next ones [EX-04]', async () => {
    const { body } = await submit({
      strategy: { type: 'batched', size: 2 },
      sessionId: newSession(),
      calls: [read, read, read, write, read],
    });
    for (const group of [[0, 1], [2, 3], [4]]) await runAll(await queued(body.id, group));
    expect((await ended(body.id)).results.map(({ outcome }) => outcome)).toEqual(Array(5).fill('completed'));
  });

  it('runs the reads of a batch together and all other calls alone by default [EX-10, PP-62]', async () => {
    const { body } = await submit({ sessionId: newSession(), calls: [read, read, write, read] });
    expect(body.strategy).toEqual({ type: 'tiered' });
    for (const group of [[0, 1], [2], [3]]) await runAll(await queued(body.id, group));
    expect((await ended(body.id)).status).toBe('ended');
  });

  it('runs a batch by the strategy of its session, unless the batch names its own [EX-01]', async () => {
    const [sessionId, calls] = [newSession(), [read, read]];
    const put = (strategy: unknown) => agent.request<Session>('PUT', `/v1/sessions/${sessionId}`, { strategy });
    const strategyOf = async (more = {}) => (await submit({ sessionId, calls, ...more })).body.strategy;
    expect(await put({ type: 'sequential' })).toMatchObject({ status: 200, body: { strategy: { type: 'sequential' } } });
    expect((await agent.get<Session>(`/v1/sessions/${sessionId}`)).body.strategy).toEqual({ type: 'sequential' });
    const { body } = await submit({ sessionId, calls });
    for (const index of [0, 1]) await runAll(await queued(body.id, [index]));
    expect((await ended(body.id)).strategy).toEqual({ type: 'sequential' });
    expect(await strategyOf({ strategy: { type: 'parallel' } })).toMatchObject({ type: 'parallel' });
    expect((await put({ type: 'batched' })).status).toBe(422);
    await put(null);
    expect(await strategyOf()).toEqual({ type: 'tiered' });
  });

  it('answers 200 with all results when a batch ends within Prefer: wait', async () => {
    const sessionId = newSession();
    const answer = submit({ sessionId, calls: [{ ...read, toolCallId: 'a' }] }, { prefer: 'wait=20' });
    const call = await eventually(
      async () => (await agent.get<{ calls: Call[] }>(`/v1/calls?sessionId=${sessionId}`)).body.calls[0],
      'the call',
    );
    await tenant.held.run(call.id, 'hello');
    const { status, headers, body } = await answer;
    expect([status, headers.get('preference-applied'), body.results[0]]).toEqual([
      200,
      'wait=20',
      {
        index: 0,
        tool: 'held',
        toolCallId: 'a',
        callId: call.id,
        status: 'ended',
        outcome: 'completed',
        result: { content: [{ type: 'text', text: 'hello' }], isError: false },
      },
    ]);
    expect((await agent.get(`/v1/calls/${call.id}`)).body).toMatchObject({ batchId: body.id, sessionId });
  });

  it('makes one batch of one Idempotency-Key, with the same body only', async () => {
    const key = { 'idempotency-key': 'one-turn' };
    const calls = [read];
    const [first, second] = await Promise.all([submit({ calls }, key), submit({ calls }, key)]);
    expect(second.body.id).toBe(first.body.id);
    const other = await agent.request<Problem>('POST', '/v1/batches', { calls: [read, read] }, key);
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
    await runAll(await queued(first.body.id, [0]));
    expect((await submit({ calls }, { ...key, prefer: 'wait=60' })).body).toEqual(await look(first.body.id));
  });

  it('refuses a batch that has no documented form [EX-04]', async () => {
    const bad = [
      { calls: [] },
      { calls: Array.from({ length: 1001 }, () => read) },
      { strategy: { type: 'batched', size: 0 }, calls: [read] },
      { strategy: { type: 'random' }, calls: [read] },
      { calls: [{ ...read, sessionId: 's' }] },
    ];
    for (const body of bad)
      expect(await agent.request('POST', '/v1/batches', body)).toMatchObject({ status: 422, body: { code: 'invalid_request' } });
  });

  it('cancels a whole batch, with or without a session: open calls end, and none starts', async () => {
    for (const sessionId of [undefined, newSession()]) {
      const { body: batch } = await submit({ strategy: { type: 'batched', size: 2 }, sessionId, calls: [read, read, read] });
      await queued(batch.id, [0, 1]);
      const cancel = (id = batch.id, by = agent) => by.request<Batch>('POST', `/v1/batches/${id}/cancel`, { reason: 'changed my mind' });
      expect((await cancel(batch.id, stranger.agent)).status).toBe(404);
      expect((await cancel()).status).toBe(202);
      const after = await ended(batch.id);
      expect(after.stopped).toEqual({ reason: 'cancelled', detail: 'changed my mind' });
      expect(after.results.map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled', 'cancelled']);
      const again = await cancel();
      expect([again.status, again.body]).toEqual([202, after]);
    }
    expect((await agent.request('POST', '/v1/batches/nothing/cancel', {})).status).toBe(404);
  });

  it('answers every question of the turn as cancelled by the user when its batch is cancelled [PP-97]', async () => {
    for (const onFailure of ['isolate', 'abort']) {
      const sessionId = newSession();
      await agent.request<Session>('PUT', `/v1/sessions/${sessionId}`, { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
      const { body: batch } = await submit({ strategy: { type: 'parallel' }, onFailure, sessionId, calls: [write, write, write] });
      const waiting = async () => (await look(batch.id)).results.filter(({ status }) => status === 'waiting_approval').length === 3;
      await eventually(waiting, 'all three calls to wait for a person');
      await agent.request('POST', `/v1/batches/${batch.id}/cancel`, {});
      const after = await ended(batch.id);
      expect([onFailure, texts(after)]).toEqual([onFailure, Array(3).fill('Tool use was cancelled by the user')]);
    }
  });

  it('hides a batch from another tenant, which can neither steer nor cancel it', async () => {
    const sessionId = newSession();
    const { body } = await submit({ sessionId, strategy: { type: 'sequential' }, calls: [read, read] });
    const [first = ''] = await queued(body.id, [0]);
    expect((await stranger.agent.get(`/v1/batches/${body.id}`)).status).toBe(404);
    await stranger.agent.request('POST', `/v1/sessions/${sessionId}/steer`, { message: 'stop' });
    expect((await stranger.agent.request<SessionCancelled>('POST', `/v1/sessions/${sessionId}/cancel`)).body).toMatchObject({
      calls: 0,
      batches: 0,
    });
    await runAll([first]);
    await runAll(await queued(body.id, [1]));
    expect(await ended(body.id)).toMatchObject({ steering: [], results: [{ outcome: 'completed' }, { outcome: 'completed' }] });
  });

  it('ends a batch of 1,000 calls with 1,000 results in order [DX-06]', async () => {
    const calls = Array.from({ length: 1000 }, (_, n) => ({
      tool: n % 2 ? 'no_such_tool' : 'echo',
      arguments: n % 2 ? {} : '{not json',
      toolCallId: `t${n}`,
    }));
    const submitted = await submit({ strategy: { type: 'batched', size: 300 }, sessionId: newSession(), calls }, { prefer: 'wait=50' });
    const body = await ended(submitted.body.id);
    expect(body.results).toHaveLength(1000);
    expect(body.results.map(({ toolCallId, error }) => [toolCallId, error?.code])).toEqual(
      calls.map(({ toolCallId }, n) => [toolCallId, n % 2 ? 'not_found' : 'invalid_arguments']),
    );
    expect(new Set(body.results.map(({ callId }) => callId)).size).toBe(1000);
  });

  describe('with a refused call', () => {
    it('runs the other calls of an isolated batch when one is refused [K-10, RP-27, VA-14]', async () => {
      const { body } = await submit({
        sessionId: newSession(),
        calls: [{ tool: 'no_such_tool' }, read, { tool: 'echo', arguments: '{"a":' }],
      });
      await runAll(await queued(body.id, [1]));
      expect((await ended(body.id)).results.map(({ outcome, error }) => error?.code ?? outcome)).toEqual([
        'not_found',
        'completed',
        'invalid_arguments',
      ]);
    });

    it('runs nothing of an all-or-nothing batch if one call is refused [K-10, RP-27]', async () => {
      const { body } = await submit(
        { onFailure: 'abort', strategy: { type: 'parallel' }, sessionId: newSession(), calls: [read, { tool: 'no_such_tool' }] },
        { prefer: 'wait=20' },
      );
      expect(texts(body)).toEqual(['Tool use was not executed', expect.stringContaining('Tool not found: no_such_tool')]);
      expect(body).toMatchObject({
        status: 'ended',
        stopped: { reason: 'aborted' },
        results: [{ outcome: 'cancelled' }, { outcome: 'failed' }],
      });
      expect((await eventsOf(body)).filter(({ type }) => type === 'call.start')).toEqual([]);
    });

    it('runs nothing of an all-or-nothing batch if the arguments of one call are no JSON, with the reason [VA-14]', async () => {
      const { body } = await submit(
        { onFailure: 'abort', sessionId: newSession(), calls: [{ tool: 'echo', arguments: '{"a":' }, read] },
        { prefer: 'wait=20' },
      );
      expect(texts(body)[1]).toBe('Tool use was not executed because another tool use in the same response had invalid JSON');
      expect(body.results.map(({ error }) => error?.code)).toEqual(['invalid_arguments', 'cancelled']);
    });
  });

  describe('with questions for a person, when all or nothing', () => {
    const asking = async (calls: object[]) => {
      const sessionId = newSession();
      await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
      const { body } = await submit({ onFailure: 'abort', strategy: { type: 'parallel' }, sessionId, calls });
      const waiting = await eventually(async () => {
        const { results } = await look(body.id);
        const ids = results.flatMap(({ status, callId }) => (status === 'waiting_approval' ? [callId ?? ''] : []));
        return ids.length === calls.filter((call) => call === write).length ? ids : undefined;
      }, 'the questions');
      return { id: body.id, waiting };
    };
    const decide = (callId: string, decision: 'allow' | 'deny') => agent.request('POST', `/v1/calls/${callId}/decision`, { decision });

    it('starts an all-or-nothing batch after every approval was given [PP-93]', async () => {
      const { id, waiting } = await asking([write, read, write]);
      expect(await decide(waiting[0] ?? '', 'allow')).toMatchObject({ status: 200, body: { status: 'waiting_approval' } });
      expect((await decide(waiting[0] ?? '', 'allow')).status).toBe(409);
      expect((await look(id)).results.map(({ status }) => status)).toEqual(['waiting_approval', 'pending', 'waiting_approval']);
      await decide(waiting[1] ?? '', 'allow');
      await runAll(await queued(id, [0, 1, 2]));
      expect((await ended(id)).results.map(({ outcome }) => outcome)).toEqual(['completed', 'completed', 'completed']);
      const decided = (await agent.events(waiting[0] ?? '')).find(({ type }) => type === 'call.approval_decided');
      expect(decided?.actor).toBe(`apikey:${tenant.keyId('main')}`);
    });

    it('runs nothing of an all-or-nothing batch after a denial, with the result of each call [PP-94]', async () => {
      const { id, waiting } = await asking([write, write, write, read]);
      await decide(waiting[1] ?? '', 'allow');
      await decide(waiting[0] ?? '', 'deny');
      const batch = await ended(id);
      expect(texts(batch)).toEqual([
        'Tool use was denied by the user.',
        'Tool use was approved, but did not execute',
        'Tool use was not executed',
        'Tool use was not executed',
      ]);
      expect((await eventsOf(batch)).filter(({ type }) => type === 'call.start')).toEqual([]);
    });
  });

  describe('steered by a person', () => {
    it('skips the rest of a steered sequential batch, and hands the messages over once, in order [EX-05, EX-06, EX-07]', async () => {
      const sessionId = newSession();
      const { body } = await submit({
        strategy: { type: 'sequential' },
        sessionId,
        calls: [read, { ...read, toolCallId: 'b' }, { tool: 'no_such_tool' }],
      });
      const [first = ''] = await queued(body.id, [0]);
      expect(await steer(sessionId, 'stop that')).toMatchObject({
        status: 202,
        body: { waiting: 1, message: { message: 'stop that', from: `apikey:${tenant.keyId('main')}` } },
      });
      expect((await steer(sessionId, 'do this')).body.waiting).toBe(2);
      await runAll([first]);
      const batch = await ended(body.id);
      expect(texts(batch)).toEqual([`ran ${first}`, 'Skipped due to queued user message.', 'Skipped due to queued user message.']);
      expect(batch).toMatchObject({
        stopped: { reason: 'steered' },
        results: [
          { outcome: 'completed' },
          { outcome: 'cancelled', toolCallId: 'b', error: { code: 'cancelled' } },
          { outcome: 'cancelled' },
        ],
      });
      expect(batch.steering.map(({ message }) => message)).toEqual(['stop that', 'do this']);
      const typesOf = async (callId = '') => (await agent.events(callId)).map(({ type }) => type);
      for (const skipped of batch.results.slice(1)) expect(await typesOf(skipped.callId)).toEqual(['call.submitted', 'call.end']);

      const next = await submit({ sessionId, calls: [{ tool: 'no_such_tool' }] }, { prefer: 'wait=20' });
      expect((await said(sessionId)).map(({ message, taken }) => `${message}: ${taken}`)).toEqual(['stop that: true', 'do this: true']);
      await agent.request('DELETE', `/v1/sessions/${sessionId}`);
      expect([...(await said(sessionId)), ...next.body.steering]).toEqual([]);
    });

    it('finishes the group that runs when a batched or tiered batch is steered, and skips the rest [EX-05]', async () => {
      for (const strategy of [{ type: 'batched', size: 2 }, { type: 'tiered' }]) {
        const sessionId = newSession();
        const { body } = await submit({ strategy, sessionId, calls: [read, read, write] });
        const ids = await queued(body.id, [0, 1]);
        await steer(sessionId, 'wait');
        await runAll(ids);
        expect(texts(await ended(body.id))).toEqual([...ids.map((id) => `ran ${id}`), 'Skipped due to queued user message.']);
      }
    });

    it('runs all of a steered parallel batch, and returns the message at the end [EX-08]', async () => {
      const sessionId = newSession();
      const { body } = await submit({ strategy: { type: 'parallel' }, sessionId, calls: [read, write, read] });
      const ids = await queued(body.id, [0, 1, 2]);
      await steer(sessionId, 'too late');
      await runAll(ids);
      const batch = await ended(body.id);
      expect(texts(batch)).toEqual(ids.map((id) => `ran ${id}`));
      expect([batch.stopped, batch.steering.map(({ message }) => message)]).toEqual([undefined, ['too late']]);
    });

    it('accepts at most 100 waiting steering messages of a session', async () => {
      const sessionId = newSession();
      for (let n = 0; n < 100; n++) await steer(sessionId, `${n}`);
      expect(await agent.request('POST', `/v1/sessions/${sessionId}/steer`, { message: 'one more' })).toMatchObject({
        status: 409,
        body: { code: 'conflict' },
      });
    });
  });

  it('stops a batch with its session: waiting calls end, running ones are cancelled, none starts [CC-22]', async () => {
    const sessionId = newSession();
    const sleep = { tool: 'shell', arguments: { command: 'sleep 600' } };
    const { body } = await submit({ strategy: { type: 'batched', size: 2 }, sessionId, calls: [sleep, read, read] });
    const [running = '', waiting = ''] = await eventually(async () => {
      const [first, second] = (await look(body.id)).results;
      return first?.status === 'running' && second?.status === 'queued' ? [first.callId, second.callId] : undefined;
    }, 'one call to run and one to wait');
    const lone = (await agent.submit('held', {}, { sessionId })).body;
    const elsewhere = (await agent.submit('held', {}, { sessionId: newSession() })).body;

    const { status, body: cancelled } = await agent.request<SessionCancelled>('POST', `/v1/sessions/${sessionId}/cancel`, {
      reason: 'enough',
    });
    expect([status, cancelled]).toEqual([202, { sessionId, calls: 3, batches: 1 }]);
    await eventually(
      async () => (await agent.events(running)).some(({ type }) => type === 'call.cancel_requested'),
      'the cancel to be asked for',
    );
    const batch = await ended(body.id);
    expect(batch).toMatchObject({
      stopped: { reason: 'cancelled', detail: 'enough' },
      results: [{ outcome: 'cancelled' }, { callId: waiting, outcome: 'cancelled' }, { outcome: 'cancelled' }],
    });
    expect((await agent.get(`/v1/calls/${lone.id}`)).body.outcome).toBe('cancelled');
    expect((await agent.get(`/v1/calls/${elsewhere.id}`)).body.status).toBe('queued');
    expect((await agent.request<SessionCancelled>('POST', `/v1/sessions/${sessionId}/cancel`)).body).toMatchObject({
      calls: 0,
      batches: 0,
    });
  });

  const eventsOf = async (batch: Batch): Promise<CallEvent[]> =>
    (await Promise.all(batch.results.map(({ callId }) => agent.events(callId ?? '')))).flat();
});
