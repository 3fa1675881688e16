import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallPage } from '#contracts';
import { eventually } from '../support/eventually.js';
import { ScriptedWorker } from '../support/foreign-worker.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';
import { connectMcp, REVISIONS, type ConnectOptions, type TestClient } from '../support/mcp-clients.js';

describe.each(REVISIONS)('/mcp for clients of the SDK that speak revision %s, over two gateways', (revision) => {
  let tenant: Tenant;
  let client: TestClient;
  const clients: TestClient[] = [];
  const connect = async (options: Partial<ConnectOptions> = {}): Promise<TestClient> => {
    const connected = await connectMcp(revision, { key: tenant.keyOf('main'), urls: [tenant.url, tenant.otherUrl], ...options });
    clients.push(connected);
    return connected;
  };
  /** The call that a client made in this session. */
  const callIn = (sessionId: string, status = 'queued') =>
    eventually(async () => {
      const { body } = await tenant.agent.get<CallPage>(`/v1/calls?sessionId=${sessionId}&status=${status}`);
      return body.calls[0];
    }, `a call in the session ${sessionId}`);
  const inSession = (sessionId: string) => ({ meta: { 'io.toolyard/sessionId': sessionId } });
  /** Request with progress: its answer waits for the End, without a limit of time. */
  const untilEnd = (sessionId: string) => ({ ...inSession(sessionId), onprogress: () => {} });

  beforeAll(async () => {
    tenant = await useTenant(`mcp-${revision}`, {
      keys: { submitter: { scopes: ['submit', 'read'], tools: ['echo', 'held_write'] } },
      held: true,
      sources: [{ kind: 'worker', name: 'later', trust: true }],
      settings: {
        posture: { autonomy: 'full', permissionMode: 'workspace-write' },
        // Calls of it require approval, like commands.
        policy: { toolsSettings: { held_write: { tier: 'privileged' } } },
      },
    });
    client = await connect();
  });
  afterEach(async () => {
    for (const connected of clients.splice(1)) await connected.close();
  });
  afterAll(async () => {
    await client?.close();
    await tenant?.close();
  });

  it('lists the tools of the key, sorted by name, with annotations and output schemas', async () => {
    const { tools } = await client.tools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual([...names].sort());
    expect(names).toEqual(expect.arrayContaining(['call_result', 'echo', 'held_structured', 'shell']));
    expect(tools.find(({ name }) => name === 'held_structured')?.outputSchema).toMatchObject({ type: 'object' });
    expect(tools.find(({ name }) => name === 'shell')?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    const limited = await connect({ key: tenant.keyOf('submitter') });
    expect((await limited.tools()).tools.map(({ name }) => name)).toEqual(['call_result', 'echo', 'held_write']);
  });

  it('runs a tool call that Claude Code repeats with its id once in a session, and ignores an invalid id', async () => {
    const meta = (sessionId: string, id: unknown) => ({ meta: { 'io.toolyard/sessionId': sessionId, 'claudecode/toolUseId': id } });
    for (const id of ['toolu_1', 'toolu_1', 'toolu_2']) await client.call('echo', { text: 'again' }, meta('claude-ids', id));
    const made = (await tenant.agent.get<CallPage>('/v1/calls?sessionId=claude-ids')).body.calls.map(({ toolCallId }) => toolCallId);
    expect(made).toEqual(['toolu_2', 'toolu_1']);
    for (const id of [7, 'x'.repeat(257)])
      expect((await client.call('echo', { text: 'again' }, meta('claude-odd-ids', id))).isError).not.toBe(true);
  });

  it('runs tools/call as an ordinary call and answers with its result, JSON as compact text [CC-34]', async () => {
    const answering = client.call('held_structured', {}, untilEnd('run'));
    const { id } = await callIn('run');
    const content = [
      { type: 'text' as const, text: 'mild' },
      { type: 'json' as const, json: { degrees: 20, of: ['C', null] } },
    ];
    await (await tenant.held.claim(id)).end('', { content, structuredContent: { degrees: 20 } });
    expect(await answering).toMatchObject({
      content: [
        { type: 'text', text: 'mild' },
        { type: 'text', text: '{"degrees":20,"of":["C",null]}' },
      ],
      structuredContent: { degrees: 20 },
      _meta: { 'io.toolyard/callId': id, 'io.toolyard/outcome': 'completed' },
    });
  });

  it('answers wrong arguments with an error result and advice, and an unknown tool with -32602', async () => {
    const wrong = await client.call('sleep', { ms: 'soon' });
    expect(wrong.isError).toBe(true);
    expect(wrong.content[0]?.text).toMatch(/ms/);
    await expect(client.call('no_such_tool')).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('Unknown tool: no_such_tool'),
    });
  });

  it('reads an idempotency key and a trace from _meta', async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const meta = { 'io.toolyard/sessionId': 'idem', 'io.toolyard/idempotencyKey': 'k1', traceparent };
    const [first, second] = [1, 2].map(() => client.call('held', { n: 1 }, { meta, onprogress: () => {} }));
    const { id } = await callIn('idem');
    await tenant.held.run(id, 'once');
    expect((await Promise.all([first, second])).map((result) => result?._meta?.['io.toolyard/callId'])).toEqual([id, id]);
    expect((await tenant.agent.events(id))[0]).toMatchObject({ type: 'call.submitted', traceparent });
  });

  it('sends increasing progress from updates, the last of it before the result', async () => {
    const steps: { progress: number; message?: string | undefined }[] = [];
    const answering = client.call('held', {}, { ...inSession('progress'), onprogress: (step) => steps.push(step) });
    const { id } = await callIn('progress');
    const attempt = await tenant.held.claim(id);
    attempt.update('half\n');
    await eventually(() => steps.some(({ message }) => message === 'half\n'), 'the update as progress');
    attempt.update('nearly\n');
    await attempt.end('all');
    expect((await answering).content[0]?.text).toBe('all');
    const seen = steps.length;
    expect(steps.at(-1)?.message).toBe('nearly\n');
    const numbers = steps.map(({ progress }) => progress);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    await client.tools();
    expect(steps).toHaveLength(seen);
  });

  it('cancels the call when the MCP client cancels the request', async () => {
    const gone = new AbortController();
    const answering = client.call('held', {}, { ...inSession('cancel'), signal: gone.signal, onprogress: () => {} });
    const { id } = await callIn('cancel');
    gone.abort('not needed');
    await expect(answering).rejects.toThrow(/not needed/);
    expect((await tenant.agent.ended(id)).outcome).toBe('cancelled');
  });

  it('asks the user of the client for approval, and an acceptance runs the call once', async () => {
    const questions: string[] = [];
    const asking = await connect({
      user: (question) => {
        questions.push(question);
        return { action: 'accept', content: { approve: true } };
      },
    });
    const answering = asking.call('held_write', { command: 'make deploy' }, untilEnd('approve'));
    const { id } = await callIn('approve');
    await tenant.held.run(id, 'deployed');
    expect((await answering).content[0]?.text).toBe('deployed');
    expect(questions).toHaveLength(1);
    expect(questions[0]).toContain('May the tool held_write run?');
    expect(questions[0]).toContain('make deploy');
    const { body } = await tenant.agent.get(`/v1/calls/${id}`);
    expect(body.approval?.decided).toMatchObject({ decision: 'allow', scope: 'once', by: `apikey:${tenant.keyId('main')}` });
  });

  it('runs no call that the user of an MCP client declines', async () => {
    const asking = await connect({ user: () => ({ action: 'decline' }) });
    const result = await asking.call('shell', { command: 'rm -r build' }, untilEnd('decline'));
    expect(result).toMatchObject({ isError: true, _meta: { 'io.toolyard/outcome': 'denied' } });
    expect(result.content[0]?.text).toContain('Declined by the user of the MCP client');
  });

  it('runs an MCP call with the arguments that the user changed in the form', async () => {
    const asking = await connect({
      user: () => ({ action: 'accept', content: { approve: true, arguments: '{"command":"make test"}' } }),
    });
    const answering = asking.call('held_write', { command: 'make deploy' }, untilEnd('edit'));
    const { id } = await callIn('edit');
    await tenant.held.run(id, 'tested');
    expect((await answering).content[0]?.text).toBe('tested');
    const { body } = await tenant.agent.get(`/v1/calls/${id}`);
    expect(body.arguments).toMatchObject({ command: 'make test' });
    expect(body.approval?.decided).toMatchObject({ decision: 'allow', edited: expect.anything() });
  });

  it('runs nothing with changed arguments that are not allowed; the call keeps waiting', async () => {
    const asking = await connect({ user: () => ({ action: 'accept', content: { approve: true, arguments: '{"order":66}' } }) });
    const result = await asking.call('shell', { command: 'make deploy' }, untilEnd('edit-wrong'));
    expect(result.isError).toBe(true);
    const { id } = await callIn('edit-wrong', 'waiting_approval');
    await tenant.agent.request('POST', `/v1/calls/${id}/cancel`, {});
  });

  it('explains how to approve after a dismissed form, also to a client that waits with progress', async () => {
    const asking = await connect({ user: () => ({ action: 'cancel' }) });
    const result = await asking.call('shell', { command: 'date' }, untilEnd('dismiss'));
    expect(result).toMatchObject({ isError: true, _meta: { 'io.toolyard/status': 'waiting_approval' } });
    const { id } = await callIn('dismiss', 'waiting_approval');
    expect(result.content[0]?.text).toContain(`POST /v1/calls/${id}/decision`);
    await tenant.agent.request('POST', `/v1/calls/${id}/cancel`, {});
  });

  it('applies the first answer: the dashboard may decide while the MCP client asks', async () => {
    let answer: (() => void) | undefined;
    const asked = new Promise<void>((resolve) => (answer = resolve));
    let release: (() => void) | undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const asking = await connect({
      user: async () => {
        answer?.();
        await held;
        return { action: 'decline' };
      },
    });
    const answering = asking.call('held_write', { command: 'date' }, untilEnd('first'));
    await asked;
    const { id } = await callIn('first', 'waiting_approval');
    expect((await tenant.agent.request('POST', `/v1/calls/${id}/decision`, { decision: 'allow' })).status).toBe(200);
    release?.();
    await tenant.held.run(id, 'by the dashboard');
    expect((await answering).content[0]?.text).toBe('by the dashboard');
  });

  it.each([
    ['a client without elicitation', 'main', false],
    ['a key without the scope approve', 'submitter', true],
  ])('tells %s how a call is approved, and runs nothing', async (_who, key, elicits) => {
    const plain = await connect({
      key: tenant.keyOf(key),
      ...(elicits ? { user: () => ({ action: 'accept', content: { approve: true } }) } : {}),
    });
    const sessionId = `howto-${elicits}`;
    const result = await plain.call('held_write', { command: 'date' }, inSession(sessionId));
    const { id } = await callIn(sessionId, 'waiting_approval');
    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toContain(`POST /v1/calls/${id}/decision`);
    await tenant.agent.request('POST', `/v1/calls/${id}/decision`, { decision: 'allow' });
    const waiting = plain.call('call_result', { callId: id, waitMs: 20_000 });
    await tenant.held.run(id, 'approved elsewhere');
    expect((await waiting).content[0]?.text).toBe('approved elsewhere');
  });

  it('links the whole of a cut output, for the key that made the call', async () => {
    await tenant.agent.request('PUT', '/v1/sessions/output', { posture: { permissionMode: 'danger-full-access' } });
    const { content, _meta } = await client.call('shell', { command: 'seq 1 20000' }, untilEnd('output'));
    const whole = Array.from({ length: 20_000 }, (_unused, index) => `${index + 1}\n`).join('');
    const uri = `toolyard://calls/${String(_meta?.['io.toolyard/callId'])}/output`;
    expect(content.at(-1)).toMatchObject({ type: 'resource_link', uri, mimeType: 'text/plain', size: whole.length });
    expect(await client.read(uri)).toBe(whole);
    const other = await connect({ key: tenant.keyOf('submitter') });
    await expect(other.read(uri)).rejects.toThrow(/not found/i);
  });

  it('notifies MCP clients of changed tools', async () => {
    let changes = 0;
    const listening = await connect({ onToolsChanged: () => (changes += 1) });
    await listening.tools();
    const tool = { name: 'added_later', description: 'For tests.', input: { type: 'object' } } as const;
    const worker = await ScriptedWorker.ready(tenant.url, tenant.keyOf('main'), 'later', [tool], 0);
    await eventually(() => changes > 0, 'the notification of a changed tool list');
    expect((await listening.tools()).tools.map(({ name }) => name)).toContain('added_later');
    worker.close();
  });
});
