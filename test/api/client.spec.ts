import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firstValueFrom, map, toArray } from 'rxjs';
import { WebSocket } from 'ws';
import {
  StaticToolExecutor,
  ToolCallAccumulator,
  ToolyardClient,
  ToolyardError,
  type StreamState,
  type ToolExecutor,
  type WatchItem,
  type ToolyardClientOptions,
} from '#client';
import { runToolUses } from '#client/anthropic';
import { stream$ } from '#client/rxjs';
import { eventually } from '../support/eventually.js';
import { callbacksContract } from './client/callbacks.contract.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

let tenant: Tenant;
let client: ToolyardClient;
const clients: ToolyardClient[] = [];
const servers: Server[] = [];

beforeAll(async () => {
  tenant = await useTenant('client', { held: true });
  client = clientOf(gatewayUrl());
});
afterAll(async () => {
  clients.forEach((each) => each.close());
  servers.forEach((each) => each.close());
  await tenant.close();
});

function gatewayUrl(): string {
  return tenant.url;
}

function clientOf(baseUrl: string, more: Partial<Extract<ToolyardClientOptions, { apiKey: string }>> = {}): ToolyardClient {
  const made = new ToolyardClient({ baseUrl, apiKey: tenant.keyOf('main'), WebSocket, ...more });
  clients.push(made);
  return made;
}

/** A server that is no gateway. */
async function stranger(answer: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function errorOf(promise: Promise<unknown>): Promise<ToolyardError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ToolyardError);
  return error as ToolyardError;
}

describe('calls', () => {
  it('submits a call by the client, waits for it and reads its whole output', async () => {
    const call = await client.calls.run({ tool: 'shell', arguments: { command: 'seq 1 9000' } });
    expect(call).toMatchObject({ status: 'ended', outcome: 'completed', result: { isError: false } });
    const output = new TextDecoder().decode(await client.calls.output(call.id));
    expect(output).toContain('\n8999\n9000');
    expect(new TextDecoder().decode(await client.calls.output(call.id, { from: 0, to: 2 }))).toBe(output.slice(0, 3));
  });

  it('lists calls by the client page by page, each in one page only', async () => {
    const sessionId = 'client-pages';
    const submitted = await Promise.all(Array.from({ length: 7 }, () => client.calls.submit({ tool: 'echo', arguments: {}, sessionId })));
    const listed: string[] = [];
    for await (const { id } of client.calls.all({ sessionId, limit: 3 })) listed.push(id);
    expect(listed.toSorted()).toEqual(submitted.map(({ id }) => id).toSorted());
  });

  it('rejects a refused call with its problem, its id and the text that the model may read', async () => {
    const error = await errorOf(client.calls.submit({ tool: 'no_such_tool', arguments: {} }));
    expect(error).toMatchObject({ code: 'not_found', status: 404, callId: expect.any(String), result: { isError: true } });
    expect((await client.calls.get(error.callId!)).outcome).toBe('failed');
    const invalid = await errorOf(client.calls.submit({ tool: 'shell', arguments: { command: 7 } }));
    expect(invalid.problem?.errors).toEqual([expect.objectContaining({ pointer: '/arguments/command' })]);
  });

  it('cancels, replays and quotes calls by the client', async () => {
    const { id } = await client.calls.submit({ tool: 'sleep', arguments: { duration_ms: 60_000 } });
    await client.calls.cancel(id, { reason: 'enough' });
    expect(await client.calls.wait(id, { timeoutMs: 20_000 })).toMatchObject({ outcome: 'cancelled' });
    const replay = await client.calls.replay(id, { arguments: { ms: 1 } }, { waitMs: 20_000 });
    expect(replay).toMatchObject({ replayOf: id, outcome: 'completed' });
    expect(await client.calls.quote({ tool: 'echo', arguments: {} })).toMatchObject({ valid: true, approvalNeeded: false });
  });

  it('lists a waiting call and decides it by the client', async () => {
    const sessionId = 'client-supervised';
    await client.sessions.put(sessionId, { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
    const { id, status } = await client.calls.submit({ tool: 'shell', arguments: { command: 'curl example.com' }, sessionId });
    expect(status).toBe('waiting_approval');
    const { calls } = await client.approvals.list();
    expect(calls.find((call) => call.id === id)?.approval?.options.length).toBeGreaterThan(0);
    await client.calls.decide(id, { decision: 'deny', reason: 'not today' });
    expect(await client.calls.wait(id)).toMatchObject({ outcome: 'denied' });
    expect((await errorOf(client.calls.decide(id, { decision: 'allow' }))).code).toBe('conflict');
    await client.sessions.delete(sessionId);
  });

  it('runs the calls of one turn as a batch by the client, with the message of a person in between', async () => {
    const sessionId = 'client-batch';
    await client.sessions.steer(sessionId, 'mind the gap');
    const calls = [1, 2].map((n) => ({ tool: 'echo', arguments: { n } }));
    const batch = await client.batches.run({ sessionId, calls });
    expect(batch.steering.map(({ message }) => message)).toEqual(['mind the gap']);
    expect(batch.results.map(({ index }) => index)).toEqual([0, 1]);
  });
});

describe('execute, for the loop of an agent', () => {
  const sessionId = 'client-execute';

  it('runs the JSON text of a model and resolves with the text for the model, once for each toolCallId', async () => {
    const first = await client.execute('shell', '{"command":"echo one; date +%N"}', { sessionId, toolCallId: 'call_1' });
    expect(first).toMatch(/^one\n\d+/);
    expect(await client.execute('shell', '{"command":"echo one; date +%N"}', { sessionId, toolCallId: 'call_1' })).toBe(first);
    const { calls } = await client.calls.list({ sessionId });
    expect(calls.map(({ toolCallId }) => toolCallId)).toEqual(['call_1']);
    expect(await client.execute('echo', '', { sessionId })).toContain('{}');
  });

  it.each([
    ['an unknown tool', 'no_such_tool', '{}', /not found/i],
    ['broken JSON', 'shell', '{"command":', /JSON/],
    ['wrong arguments', 'shell', '{"command":7}', /command/],
    ['a command that fails', 'shell', '{"command":"echo no >&2; exit 3"}', /no\n[^]*3/],
  ])('resolves execute of the client with a text for the model for %s', async (_what, tool, json, text) => {
    expect(await client.execute(tool, json, { sessionId })).toMatch(text);
  });

  it('rejects execute of the client if the request itself fails, and cancels the call on abort', async () => {
    const stranger = clientOf(gatewayUrl(), { apiKey: 'wrong-key-of-the-test' });
    expect((await errorOf(stranger.execute('echo', '{}', { sessionId }))).code).toBe('unauthenticated');
    const controller = new AbortController();
    const toolCallId = 'call_long';
    const run = client.execute('sleep', '{"duration_ms":60000}', { sessionId, toolCallId, signal: controller.signal });
    const found = await eventually(async () => (await client.calls.list({ sessionId, toolCallId })).calls[0], 'the call');
    controller.abort(new Error('enough'));
    await expect(run).rejects.toThrow('enough');
    expect(await client.calls.wait(found.id, { timeoutMs: 20_000 })).toMatchObject({ outcome: 'cancelled' });
  });
});

describe('questions over many calls', () => {
  it('answers questions over many calls with counts, sessions, numbers over time and groups of failures', async () => {
    const sessionId = 'client-many';
    const missing = { tool: 'file_read', arguments: { path: 'no/such/file' }, sessionId };
    for (let n = 0; n < 2; n++) expect(await client.calls.run(missing)).toMatchObject({ outcome: 'failed' });
    await client.calls.run({ tool: 'echo', arguments: {}, sessionId });

    await eventually(async () => (await client.calls.count({ sessionId, status: 'ended' })).count === 3, 'the calls to be counted');
    const session = await eventually(
      async () =>
        (await client.sessions.list()).sessions.find((each) => each.sessionId === sessionId && each.running === 0 && each.calls === 3),
      'the session to be listed',
    );
    expect(session).toMatchObject({ failed: 2 });
    const failure = await eventually(
      async () => (await client.stats.failures()).failures.find(({ tool, count }) => tool === 'file_read' && count === 2),
      'the failures to be grouped',
    );
    expect((await client.calls.list({ fingerprint: failure.fingerprint })).calls).toHaveLength(2);
    const { tools } = await client.stats.tools();
    expect(tools.find(({ tool }) => tool === 'file_read')).toMatchObject({ calls: 2, failed: 2, errorRate: 1 });
    const { series } = await client.stats.overview();
    expect(series.reduce((sum, { failed }) => sum + failed, 0)).toBeGreaterThanOrEqual(2);
  });

  it('cancels and replays many calls by a filter by the client, after a dry run', async () => {
    const filter = { sessionId: 'client-bulk' };
    await client.calls.run({ tool: 'echo', arguments: {}, ...filter });
    const sleeper = await client.calls.submit({ tool: 'sleep', arguments: { duration_ms: 60_000 }, ...filter });
    await eventually(async () => (await client.calls.count({ ...filter, status: 'ended' })).count === 1, 'one call to have ended');
    expect(await client.calls.cancelMany({ filter, dryRun: true })).toMatchObject({ matched: 1, done: 0 });
    expect(await client.calls.cancelMany({ filter })).toMatchObject({ matched: 1, done: 1, failed: [] });
    expect((await client.calls.wait(sleeper.id)).outcome).toBe('cancelled');
    const replay = { filter: { ...filter, outcome: 'completed' } } as const;
    const again = { idempotencyKey: 'client-bulk-replay' };
    expect(await client.calls.replayMany(replay, again)).toMatchObject({ done: 1, failed: [] });
    await eventually(async () => (await client.calls.count(filter)).count === 3, 'the replay to be counted');
    expect(await client.calls.replayMany(replay, again)).toMatchObject({ failed: [] });
  });

  it('sets, reads and deletes the rules of a session by the client', async () => {
    const put = await client.sessions.put('client-session', { posture: { autonomy: 'read_only' } });
    expect(put.posture.autonomy).toBe('read_only');
    expect(await client.sessions.get('client-session')).toEqual(put);
    const refused = await errorOf(
      client.calls.submit({ tool: 'file_write', arguments: { path: 'x', content: '' }, sessionId: 'client-session' }),
    );
    expect(refused).toMatchObject({ code: 'policy_denied', status: 403 });
    await client.sessions.delete('client-session');
    expect((await client.sessions.get('client-session')).posture.autonomy).toBe('full');
  });
});

describe('the catalog and the operations', () => {
  it('returns the catalog by the client as types and in the shapes of model APIs, with the same tools in the same order [RP-04]', async () => {
    const callable = (await client.tools.list()).filter(({ available }) => available.ok).map(({ name }) => name);
    for (const format of ['anthropic', 'anthropic', 'mcp'] as const)
      expect((await client.tools.forModel(format)).map(({ name }) => name)).toEqual(callable);
    expect(callable).toContain('shell');
    expect(await client.tools.forModel('anthropic', { q: 'shell' })).toContainEqual(
      expect.objectContaining({ name: 'shell', input_schema: expect.any(Object) }),
    );
    expect(await client.tools.forModel('openai')).toContainEqual(expect.objectContaining({ type: 'function' }));
    const workers = (await client.workers.list()).filter(({ foreign }) => foreign === undefined);
    expect(workers.map(({ draining }) => draining)).toEqual([false, false]);
    expect((await client.queues.list()).map(({ pool }) => pool)).toContain('shell');
    expect(await client.gateway.ready()).toEqual({ status: 'ok' });
  });
});

describe.each([
  ['WebSocket', WebSocket],
  ['server-sent events', false],
] as const)('streams over %s', (_name, transport) => {
  const streaming = () => clientOf(gatewayUrl(), { WebSocket: transport });

  it('streams every event of a call in order until its End', async () => {
    const types: string[] = [];
    let said = '';
    for await (const event of streaming().calls.stream({
      tool: 'shell',
      arguments: { command: 'for i in 1 2 3; do echo $i; sleep 0.4; done' },
    })) {
      types.push(event.type);
      if (event.type === 'call.update') said += event.data.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    }
    expect(types[0]).toBe('call.submitted');
    expect(types.at(-1)).toBe('call.end');
    expect(said).toBe('1\n2\n3\n');
  });

  it('returns the events of a call as an Observable that completes after its End', async () => {
    const { id } = await client.calls.run({ tool: 'echo', arguments: { n: 1 } });
    const types = await firstValueFrom(
      stream$(streaming(), id).pipe(
        map(({ type }) => type),
        toArray(),
      ),
    );
    expect(types).toEqual((await client.calls.events(id)).map(({ type }) => type));
  });

  it('streams an ended call from its beginning or after any of its events', async () => {
    const { id } = await client.calls.run({ tool: 'echo', arguments: { n: 1 } });
    const all = await client.calls.events(id);
    for (const cursor of [undefined, ...all.map((event) => event.id)]) {
      const seen: string[] = [];
      for await (const event of streaming().calls.stream(id, { cursor })) seen.push(event.id);
      const from = all.findIndex((event) => event.id === cursor) + 1;
      expect(seen).toEqual(all.slice(from).map((event) => event.id));
    }
  });

  it('streams everything from the moment that the stream is live, and continues after a cursor', async () => {
    const states: StreamState['state'][] = [];
    let isLive = () => {};
    const live = new Promise<void>((resolve) => (isLive = resolve));
    const watch = streaming().watch(
      { types: ['call.submitted', 'call.end'] },
      { onState: ({ state }) => (states.push(state), state === 'live' && isLive()) },
    );
    await live;
    const first = await client.calls.run({ tool: 'echo', arguments: {} });
    const second = await client.calls.run({ tool: 'echo', arguments: {} });
    const seen: Extract<WatchItem, { kind: 'event' }>[] = [];
    for await (const item of watch) {
      if (item.kind === 'event') seen.push(item);
      if (seen.length === 4) break;
    }
    expect(seen.map(({ event }) => [event.subject, event.type])).toEqual(
      [first, second].flatMap(({ id }) => [
        [id, 'call.submitted'],
        [id, 'call.end'],
      ]),
    );
    expect(states).toEqual(['connecting', 'live', 'closed']);

    const again = streaming().watch({ types: ['call.submitted', 'call.end'] }, { cursor: seen[1]!.cursor });
    const rest: string[] = [];
    for await (const item of again) {
      if (item.kind === 'event') rest.push(item.event.id);
      if (rest.at(-1) === seen[3]!.event.id) break;
    }
    expect(rest).toEqual(seen.slice(2).map(({ event }) => event.id));
  });

  it('ends a stream with the fault of a wrong key, filter or id', async () => {
    const wrongKey = clientOf(gatewayUrl(), { apiKey: 'no-such-key-anywhere', WebSocket: transport });
    expect((await errorOf(wrongKey.watch().next())).code).toBe('unauthenticated');
    expect((await errorOf(streaming().calls.stream('00-01JZ8C5W3Q4X9R7T2M6K8N0P1V').next())).code).toBe('resource_not_found');
    expect((await errorOf(streaming().watch({}, { cursor: 'nonsense!' }).next())).code).toBe('invalid_request');
  });

  it('ends a stream of the client with its signal', async () => {
    const done = new AbortController();
    const watch = streaming().watch({}, { signal: done.signal });
    const next = watch.next();
    done.abort();
    expect((await errorOf(next)).code).toBe('aborted');
    expect(await watch.next()).toEqual({ done: true, value: undefined });
  });
});

/** The loop of an agent around a model that sends these calls, one a turn. It knows nothing of tools. */
async function loop(executor: ToolExecutor, sessionId: string, turns: readonly (readonly [name: string, json: string])[]) {
  const texts: string[] = [];
  for (const [turn, [name, json]] of turns.entries())
    texts.push(await executor.execute(name, json, { sessionId, toolCallId: `call_${turn}` }));
  return texts;
}

describe('the loop of an agent', () => {
  const BAD_THEN_GOOD = [
    ['echo', '{"text":"cut'],
    ['echo', `{text: 'mended',}`],
  ] as const;

  it('runs the loop of an agent with one method, of the client or of functions in its tests; the next turn mends an error [RP-26, VA-07]', async () => {
    const [refused, repaired] = await loop(client, 'client-loop', BAD_THEN_GOOD);
    expect(refused).toMatch(/^Invalid arguments: the arguments are not valid JSON/);
    expect(repaired).toMatch(/mended[^]*\nWarning: the arguments were not valid JSON. They were read as {"text":"mended"}$/);
    const { calls } = await client.calls.list({ sessionId: 'client-loop', tool: 'echo' });
    expect(calls.map(({ outcome }) => outcome)).toEqual(['completed', 'failed']);
    expect(
      await loop(
        new StaticToolExecutor().register('echo', (json) => json),
        's',
        BAD_THEN_GOOD,
      ),
    ).toEqual(BAD_THEN_GOOD.map(([, json]) => json));
  });

  it('joins streamed calls and gets a message for each, in their order [VA-01, VA-03, CC-35]', async () => {
    const sessionId = 'client-streamed';
    await client.calls.run({ tool: 'file_write', arguments: { path: 'a', content: 'of a' }, sessionId });
    const answer = new ToolCallAccumulator();
    answer.add({ index: 0, id: 'call_sleep', name: 'sleep', arguments: '{"duration_' });
    answer.add({ index: 1, id: 'call_read', name: 'file_read', arguments: '{"pa' });
    answer.add({ index: 1, arguments: 'th":"a"}{"path":"b"}' });
    answer.add({ index: 0, arguments: 'ms":50}' });
    answer.add({ index: 2, id: 'call_missing', name: 'file_read', arguments: '{"path":"b"}' });
    const before = Date.now();
    const { results } = await client.executeAll(answer.calls(), { sessionId, strategy: { type: 'parallel' } });
    expect(results.map(({ toolCallId, toolName, isError }) => [toolCallId, toolName, isError])).toEqual([
      ['call_sleep', 'sleep', false],
      ['call_read', 'file_read', false],
      ['call_missing', 'file_read', true],
    ]);
    expect(results[1]?.text).toMatch(/of a[^]*Only the first was used: {"path":"a"}$/);
    for (const { timestamp } of results) expect(timestamp).toBeGreaterThanOrEqual(before);
  });

  callbacksContract(
    () => client,
    errorOf,
    () => tenant.held,
  );

  it('sends one user message with a block for each call, in their order, whichever ends first [CC-36]', async () => {
    const uses = [
      { type: 'tool_use', id: 'toolu_slow', name: 'sleep', input: { duration_ms: 50 } },
      { type: 'tool_use', id: 'toolu_none', name: 'no_such_tool', input: {} },
    ];
    const blocks = await runToolUses(client, uses, { sessionId: 'client-blocks', strategy: { type: 'parallel' } });
    expect(blocks).toMatchObject([
      { type: 'tool_result', tool_use_id: 'toolu_slow', is_error: false },
      { type: 'tool_result', tool_use_id: 'toolu_none', is_error: true },
    ]);
  });
});

describe('the client without a gateway', () => {
  it('reports that no gateway answers after the configured number of attempts', async () => {
    let asked = 0;
    const url = await stranger((_request, response) => {
      asked += 1;
      response.socket?.destroy();
    });
    expect((await errorOf(clientOf(url, { retries: 2 }).workers.list())).code).toBe('unreachable');
    expect(asked).toBe(3);
    asked = 0;
    expect((await errorOf(clientOf(url, { retries: 2 }).calls.decide('07-x', { decision: 'allow' }))).code).toBe('unreachable');
    expect(asked).toBe(1);
  });

  it('reports a server that is no gateway', async () => {
    const page = await stranger((_request, response) => response.end('<html>'));
    expect((await errorOf(clientOf(page).workers.list())).code).toBe('protocol');
    expect((await errorOf(clientOf(page).watch().next())).code).toBe('protocol');
    const proxy = await stranger((_request, response) => response.writeHead(404).end('nothing here'));
    expect((await errorOf(clientOf(proxy).workers.list())).message).toContain('is this a Toolyard gateway');
  });

  it('waits for Retry-After in the client, and repeats a submission under the same key', async () => {
    const keys: unknown[] = [];
    const at: number[] = [];
    const url = await stranger((request, response) => {
      keys.push(request.headers['idempotency-key']);
      at.push(performance.now());
      const problem = { type: 'x', title: 'No capacity now', status: 503, detail: 'later', code: 'overloaded' };
      response.writeHead(503, { 'retry-after': '1', 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
    });
    expect((await errorOf(clientOf(url, { retries: 1 }).calls.submit({ tool: 'echo' }))).code).toBe('overloaded');
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[1]).toBe(keys[0]);
    // Timers may be a millisecond early.
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(999);
  });

  it('respects the deadlines and signals of the client’s caller', async () => {
    const url = await stranger(() => {});
    expect((await errorOf(clientOf(url).calls.wait('07-01JZ8C5W3Q4X9R7T2M6K8N0P1V', { timeoutMs: 50 }))).code).toBe('timed_out');
    expect((await errorOf(clientOf(url).workers.list({ signal: AbortSignal.abort() }))).code).toBe('aborted');
    expect((await errorOf(clientOf(url, { attemptTimeoutMs: 50, retries: 0 }).workers.list())).message).toContain('in time');
  });

  it('refuses options of the client that cannot work', () => {
    expect(() => clientOf('127.0.0.1:7411')).toThrow('expected an http(s) URL');
    expect(() => clientOf('http://127.0.0.1', { apiKey: 'with a blank' })).toThrow('visible ASCII');
  });
});
