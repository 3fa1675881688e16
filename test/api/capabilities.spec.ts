import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApprovalPage, Call, CallEvent, CallEventOf, CallEventType, CallPage, ToolDescriptor } from '#contracts';
import { newMarker, processesWith } from '../../libs/tools/src/testing/shell-runs.js';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const firstOf = <T extends CallEventType>(events: readonly CallEvent[], type: T): CallEventOf<T> | undefined =>
  events.find((event): event is CallEventOf<T> => event.type === type);
/** Far more than what is promised (200 ms, 500 ms), as the machine may pause: what waits for a slow call takes ten minutes. */
const [AT_ONCE_MS, READ_MS] = [10_000, 20_000];
/** Within it processes of a cancelled tree are promised to be gone. */
const GONE_MS = 2_000;
async function inTime<T>(ms: number, answer: Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(ms);
  const tooLate = new Promise<never>((_resolve, reject) =>
    late.addEventListener('abort', () => reject(new Error(`no answer within ${ms} ms`)), { once: true }),
  );
  return Promise.race([answer, tooLate]);
}
const textOf = (call: Call) => call.result?.content.map((item) => (item.type === 'text' ? item.text : '')).join('');

describe('what agents of every kind rely on', () => {
  let tenant: Tenant;
  let agent: Agent;
  beforeAll(async () => {
    tenant = await useTenant('capabilities');
    agent = tenant.agent;
  });
  afterAll(() => tenant.close());

  const posture = (sessionId: string, change: Record<string, string>) =>
    agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: change });
  const cancel = (id: string) => agent.request('POST', `/v1/calls/${id}/cancel`, { graceMs: 100 });

  it('runs a tool under the names that other agents use, and reports its own [CC-14]', async () => {
    await agent.run('fs_write', { path: 'named.txt', content: 'one' });
    for (const name of ['file_read', 'read_file', 'read', 'fs_read', 'fsRead']) {
      const call = await agent.run(name, { path: 'named.txt' });
      expect([name, call.tool, textOf(call)]).toEqual([name, 'file_read', 'one']);
      expect((await agent.events(call.id)).every((event) => event.tool === 'file_read')).toBe(true);
    }
  });

  it('accepts the arguments of a shell call under other names, or as a bare text [CC-16, TB-02]', async () => {
    for (const args of [{ command: 'echo hi' }, { cmd: ' echo hi ' }, { script: '', sh: 'echo hi' }, '{"command":"echo hi"}', 'echo hi'])
      expect([args, textOf(await agent.run('bash', args))]).toEqual([args, 'hi\n']);
    expect(await agent.submit('bash', {})).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining("missing 'command' parameter") },
    });
  });

  it('keeps the purpose of a call separate from its arguments [CC-18]', async () => {
    const call = await agent.run('echo', { text: 'x', __tool_use_purpose: 'look' });
    expect(call).toMatchObject({ purpose: 'look', result: { content: [{ type: 'json', json: { text: 'x' } }] } });
    expect(call.arguments).toEqual({ text: 'x' });
    expect(firstOf(await agent.events(call.id), 'call.submitted')?.data).toMatchObject({ purpose: 'look', arguments: { text: 'x' } });
  });

  it('shows the facts of tools to people, and enforces their declared times [CC-10, CC-11]', async () => {
    const { body } = await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools?format=full');
    const factsOf = (name: string) => body.tools.find((tool) => tool.name === name);
    expect(['file_read', 'file_write', 'shell'].map((name) => factsOf(name)?.tier)).toEqual(['read_only', 'side_effecting', 'privileged']);
    expect((await agent.submit('echo', {})).body.timeouts.runMs).toBe(factsOf('echo')?.timeoutMs);
  });

  it('reports worker and tool in Start and the result in End, with one of each per call [CC-20, CC-38, EV-01, EV-03, EV-07]', async () => {
    const slow = (await agent.submit('shell', { command: 'echo up; sleep 30' })).body;
    await eventually(async () => firstOf(await agent.events(slow.id), 'call.update')?.data, 'the first update');
    await cancel(slow.id);
    const ended = [await agent.run('echo', { a: 1 }), await agent.run('file_read', { path: 'none' }), await agent.ended(slow.id)];
    expect(ended.map(({ outcome, result }) => [outcome, result?.isError])).toEqual([
      ['completed', false],
      ['failed', true],
      ['cancelled', true],
    ]);
    for (const call of ended) {
      const events = await agent.events(call.id);
      const lifecycle = events.map(({ type }) => type).filter((type) => !/update|cancel/.test(type));
      expect(lifecycle).toEqual(['call.submitted', 'call.start', 'call.end']);
      expect(firstOf(events, 'call.start')?.data).toMatchObject({ tool: call.tool, arguments: call.arguments, worker: expect.any(String) });
      expect(firstOf(events, 'call.end')?.data).toMatchObject({ outcome: call.outcome, runMs: expect.any(Number), result: call.result });
    }
  });

  it('sends a reader from the beginning all events of 100 calls of a session in one stable order: submitted, Start, Updates, End [EV-15]', async () => {
    const stream = await agent.stream();
    const filter = { sessionId: 'ordered' };
    stream.send({ op: 'subscribe', id: 'live', filter });
    const { cursor } = await stream.frame('subscribed', 'live');
    const speaking = new Set<string>();
    const submit = async (n: number) => {
      const speaks = n % 10 === 0;
      const { body } = speaks
        ? await agent.submit('shell', { command: 'echo one; sleep 0.4; echo two' }, filter)
        : await agent.submit('echo', { n }, filter);
      if (speaks) speaking.add(body.id);
      return body.id;
    };
    const ids = await Promise.all(Array.from({ length: 100 }, (_unused, n) => submit(n)));
    const read = async (id: string) => {
      const ended = () => stream.events(id).filter(({ event }) => event.type === 'call.end').length;
      await eventually(() => ended() === ids.length, 'every End');
      return stream.events(id).map(({ event }) => event);
    };
    const events = await read('live');
    for (const callId of ids) {
      const types = events.filter(({ subject }) => subject === callId).map(({ type }) => type);
      const updates = types.filter((type) => type === 'call.update');
      expect(types).toEqual(['call.submitted', 'call.start', ...updates, 'call.end']);
      expect(updates.length > 0).toBe(speaking.has(callId));
    }
    const places = events.map(({ id }) => Number(id.split('.')[2]));
    expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
    stream.send({ op: 'subscribe', id: 'again', filter, cursor });
    expect(await read('again')).toEqual(events);
    stream.close();
  });

  it('writes down with a call how it was judged [EV-10]', async () => {
    await Promise.all([posture('judged-deny', { permissionMode: 'read-only' }), posture('judged-ask', { permissionMode: 'prompt' })]);
    for (const [sessionId, effect] of [
      ['judged-allow', 'allow'],
      ['judged-deny', 'deny'],
      ['judged-ask', 'ask'],
    ] as const) {
      const { body } = await agent.submit('file_write', { path: 'a', content: 'b' }, { sessionId });
      const events = await agent.events('callId' in body ? String(body.callId) : body.id);
      expect(firstOf(events, 'call.submitted')?.data?.decision.effect).toBe(effect);
    }
  });

  it('allows a session exactly the calls of its mode and autonomy [CC-13, PP-50, PP-51, PP-53, PP-100, TB-30]', async () => {
    const statuses = async (sessionId: string, change: Record<string, string>) => {
      await posture(sessionId, change);
      const calls = [
        ['file_list', {}],
        ['file_write', { path: '../x', content: '' }],
        ['bash', { command: 'true' }],
      ] as const;
      return Promise.all(calls.map(async ([tool, args]) => (await agent.submit(tool, args, { sessionId })).status));
    };
    expect(await statuses('reads', { permissionMode: 'read-only' })).toEqual([202, 403, 403]);
    expect(await statuses('read-autonomy', { autonomy: 'read_only' })).toEqual([202, 403, 403]);
    expect((await agent.get<ApprovalPage>('/v1/approvals')).body.calls.filter(({ sessionId }) => sessionId === 'reads')).toEqual([]);
    await Promise.all([posture('prompted', { permissionMode: 'prompt' }), posture('allowed', { permissionMode: 'allow' })]);
    expect((await agent.submit('bash', { command: 'true' }, { sessionId: 'prompted' })).body.status).toBe('waiting_approval');
    expect((await agent.run('bash', { command: 'true' }, { sessionId: 'allowed' })).outcome).toBe('completed');
  });

  it('answers status and cancel at once while calls run, and lists them [EX-20, EX-22]', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, async () => (await agent.submit('shell', { command: 'sleep 600' })).body.id));
    const running = async () =>
      (await agent.get<CallPage>('/v1/calls?status=running&tool=shell')).body.calls.filter(({ id }) => ids.includes(id));
    await eventually(async () => (await running()).length === ids.length, 'all to run');
    expect((await running()).every(({ startedAt }) => Date.parse(startedAt ?? '') > 0)).toBe(true);
    for (const id of ids) {
      expect((await inTime(AT_ONCE_MS, agent.get(`/v1/calls/${id}`))).body.status).toBe('running');
      expect((await inTime(AT_ONCE_MS, cancel(id))).status).toBe(202);
    }
    for (const id of ids) expect((await agent.ended(id)).outcome).toBe('cancelled');
    // Each answer came before its call was over by itself.
    const events = await Promise.all(ids.map((id) => agent.events(id)));
    expect(events.every((all) => all.some(({ type }) => type === 'call.cancel_requested'))).toBe(true);
  });

  it('stops the process of a grandchild when its call at the top is cancelled [EX-24]', async () => {
    const [root, middle, leaf] = [newMarker(), newMarker(), newMarker()];
    const run = async (marker: string, parentCallId?: string) => {
      const { body } = await agent.submit(
        'shell',
        { command: `: ${marker}; sleep 600; :` },
        parentCallId === undefined ? {} : { parentCallId },
      );
      await eventually(() => processesWith(marker).length > 0, 'the process of a call');
      return body.id;
    };
    const top = await run(root);
    const child = await run(middle, top);
    const grandchild = await run(leaf, child);
    expect((await cancel(top)).status).toBe(202);
    await eventually(() => [root, middle, leaf].flatMap(processesWith).length === 0, 'all processes to be gone', 10 * GONE_MS);
    for (const id of [top, child, grandchild]) expect((await agent.ended(id)).outcome).toBe('cancelled');
  });

  it('reports success of a command that ended well after a cancel, instead of a stop', async () => {
    const { body } = await agent.submit('shell', { command: `trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done` });
    await eventually(async () => firstOf(await agent.events(body.id), 'call.update'), 'the command to run');
    await agent.request('POST', `/v1/calls/${body.id}/cancel`, { graceMs: 20_000 });
    expect((await agent.ended(body.id)).outcome).toBe('cancelled');
    expect(firstOf(await agent.events(body.id), 'call.end')?.data.stopped).toMatchObject({ how: 'unknown' });
  });

  it('runs a call once for repeated tool call ids [DX-02, EX-21]', async () => {
    const once = { sessionId: 'once', toolCallId: 'toolu_1' };
    const calls = await Promise.all(
      Array.from({ length: 10 }, () => agent.run('shell', { command: 'echo ran >> ran.txt; cat ran.txt' }, once)),
    );
    expect(new Set(calls.map(({ id }) => id)).size).toBe(1);
    expect(new Set(calls.map(textOf))).toEqual(new Set(['ran\n']));
    const other = await agent.run('shell', { command: 'cat ran.txt' }, { ...once, toolCallId: 'toolu_2' });
    expect([textOf(other), other.id === calls[0]?.id]).toEqual(['ran\n', false]);
  });

  it('runs reads without waiting for slow shells [DX-01]', async () => {
    const shells = await Promise.all(
      Array.from({ length: 50 }, async () => (await agent.submit('shell', { command: 'sleep 600' })).body.id),
    );
    for (let n = 0; n < 5; n++) expect((await inTime(READ_MS, agent.run('file_list', {}))).outcome).toBe('completed');
    expect(await Promise.all(shells.map(async (id) => (await agent.get(`/v1/calls/${id}`)).body.outcome))).toEqual(
      shells.map(() => undefined),
    );
    const { body: last } = await agent.get(`/v1/calls/${shells.at(-1)}`);
    expect(last).toMatchObject({ status: 'queued', waiting: { reason: 'queued' } });
    expect(
      (await agent.get<CallPage>('/v1/calls?tool=shell&status=ended&limit=200')).body.calls.filter(({ id }) => shells.includes(id)),
    ).toEqual([]);
    await Promise.all(shells.map(cancel));
    for (const id of shells) expect((await agent.ended(id)).outcome).toBe('cancelled');
  });

  it('shows files of one worker to calls on the other [DX-07]', async () => {
    const session = { sessionId: 'shared' };
    await agent.run('file_write', { path: 'a.txt', content: 'shared' }, session);
    const workers = new Set<string | undefined>();
    for (let n = 0; n < 50 && workers.size < 2; n++) {
      const reads = await Promise.all(Array.from({ length: 20 }, () => agent.run('file_read', { path: 'a.txt' }, session)));
      expect(new Set(reads.map(textOf))).toEqual(new Set(['shared']));
      for (const { id } of reads) workers.add(firstOf(await agent.events(id), 'call.start')?.data?.worker);
    }
    expect(workers.size).toBe(2);
  });

  it('applies all of 20 concurrent edits of one file [TB-41]', async () => {
    const session = { sessionId: 'edited' };
    const lines = (mark: string) => Array.from({ length: 20 }, (_unused, n) => `${mark}${n};`).join('\n');
    await agent.run('file_write', { path: 'a.txt', content: lines('old') }, session);
    await Promise.all(
      Array.from({ length: 20 }, (_unused, n) =>
        agent.run('file_edit', { path: 'a.txt', old_text: `old${n};`, new_text: `new${n};` }, session),
      ),
    );
    expect(textOf(await agent.run('file_read', { path: 'a.txt' }, session))).toBe(lines('new'));
  });

  it('separates both streams of a command, and hides the variables of its worker [PP-103, TB-01]', async () => {
    writeFileSync(join(tenant.workspaceOf(), 'both.sh'), 'echo a; echo b >&2');
    expect(textOf(await agent.run('shell', { command: 'bash both.sh' }))).toBe('stdout:\na\n\n\nstderr:\nb\n');
    const env = textOf(await agent.run('shell', { command: 'env' }));
    expect(env).toContain('PATH=');
    expect(env).not.toMatch(/canary|WORKER_SECRET|REDIS_URL/);
  });

  it('cuts the text of a read for the model, with the size of the whole [EX-40, TB-21]', async () => {
    await agent.run('file_write', { path: 'long.txt', content: 'x'.repeat(20_480) });
    expect(textOf(await agent.run('file_read', { path: 'long.txt' }))).toBe(
      `${'x'.repeat(16_384)}[output truncated — original size: 20,480 bytes]`,
    );
  });

  it('reports how much a command wrote, also beyond the stored part [EX-41]', async () => {
    const call = await agent.run('shell', { command: "head -c 3000000 /dev/zero | tr '\\0' x; head -c 5 /dev/zero | tr '\\0' y >&2" });
    expect(call.result?.truncated?.originalBytes).toBe(3_000_005);
    expect(textOf(call)).toMatch(
      /\n\[output truncated — original size: 3,000,005 bytes; 2,983,\d+ left out here; exit code 0; .*\]\n[^]*yyyyy$/,
    );
  });

  it('sleeps for the given time, or until a cancel [TB-09]', async () => {
    const call = await agent.run('sleep', { duration_ms: 300 });
    expect(textOf(call)).toBe('Slept for 300ms');
    expect(Date.parse(call.endedAt ?? '') - Date.parse(call.submittedAt)).toBeGreaterThanOrEqual(300);
    const { body } = await agent.submit('sleep', { duration_ms: 86_400_000 });
    await cancel(body.id);
    expect((await agent.ended(body.id)).outcome).toBe('cancelled');
    expect((await agent.submit('sleep', { duration_ms: 86_400_001 })).status).toBe(422);
  });
});
