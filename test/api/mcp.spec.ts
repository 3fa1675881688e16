import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { CallPage } from '#contracts';
import { describeTool, ToolRegistry } from '#tool-sdk';
import { eventually } from '../support/eventually.js';
import { fixtureTool } from '../support/fixture-tools.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';
import { connectMcp, REVISIONS, type ConnectOptions, type TestClient } from '../support/mcp-clients.js';

const SUBMITTER = 'key-that-submits-and-reads-only';
const structured = fixtureTool({ name: 'weather', tier: 'read_only', effect: 'pure', output: z.object({ degrees: z.number() }) });

describe.each(REVISIONS)('/mcp for clients of the SDK that speak revision %s, over two gateways', (revision) => {
  let gateways: [TestGateway, TestGateway];
  let client: TestClient;
  const clients: TestClient[] = [];
  const tenant = `mcp-${revision}`;
  const connect = async (options: Partial<ConnectOptions> = {}): Promise<TestClient> => {
    const connected = await connectMcp(revision, { key: BOOTSTRAP_KEY, urls: gateways.map(({ url }) => url), ...options });
    clients.push(connected);
    return connected;
  };
  const agent = () => gateways[0].agent;
  /** The call that a client made in this session. */
  const callIn = (sessionId: string, status = 'queued') =>
    eventually(async () => {
      const { body } = await agent().get<CallPage>(`/v1/calls?sessionId=${sessionId}&status=${status}`);
      return body.calls[0];
    }, `a call in the session ${sessionId}`);
  const inSession = (sessionId: string) => ({ meta: { 'io.toolyard/sessionId': sessionId } });
  /** With progress an answer waits for the End, however long that takes. */
  const untilEnd = (sessionId: string) => ({ ...inSession(sessionId), onprogress: () => {} });

  beforeAll(async () => {
    const keys = [
      { id: 'all', key: BOOTSTRAP_KEY, tenant, scopes: ['submit', 'read', 'cancel', 'approve', 'admin'], agents: ['*'] },
      { id: 'submitter', key: SUBMITTER, tenant, scopes: ['submit', 'read'], tools: ['echo', 'shell'] },
    ] as never;
    const change = {
      keys,
      // Commands are asked about, everything else runs.
      defaultPosture: { autonomy: 'full', permissionMode: 'workspace-write' } as const,
      mcp: { answerMs: 300, taskMs: 200 },
    };
    gateways = await Promise.all([
      startTestGateway(tenant, { ...change, lists: true }, [structured]),
      startTestGateway(tenant, { ...change, lists: true }, [structured]),
    ]);
    client = await connect();
  });
  afterEach(async () => {
    for (const connected of clients.splice(1)) await connected.close();
  });
  afterAll(async () => {
    await client.close();
    await Promise.all(gateways.map((gateway) => gateway.close()));
  });

  it('lists the tools of the key, sorted by name, with annotations and output schemas', async () => {
    const { tools } = await client.tools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual([...names].sort());
    expect(names).toEqual(expect.arrayContaining(['call_result', 'echo', 'shell', 'weather']));
    expect(tools.find(({ name }) => name === 'weather')?.outputSchema).toMatchObject({ type: 'object' });
    expect(tools.find(({ name }) => name === 'shell')?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    const limited = await connect({ key: SUBMITTER });
    expect((await limited.tools()).tools.map(({ name }) => name)).toEqual(['call_result', 'echo', 'shell']);
  });

  it('runs tools/call as an ordinary call and answers with its result, JSON as compact text [CC-34]', async () => {
    const answering = client.call('weather', {}, untilEnd('run'));
    const { id } = await callIn('run');
    await gateways[1].run(id, 'mild', {
      result: {
        content: [
          { type: 'text', text: 'mild' },
          { type: 'json', json: { degrees: 20, of: ['C', null] } },
        ],
        structuredContent: { degrees: 20 },
        isError: false,
      },
    });
    expect(await answering).toMatchObject({
      content: [
        { type: 'text', text: 'mild' },
        { type: 'text', text: '{"degrees":20,"of":["C",null]}' },
      ],
      structuredContent: { degrees: 20 },
      _meta: { 'io.toolyard/callId': id, 'io.toolyard/outcome': 'completed' },
    });
  });

  it('answers wrong arguments with an error result that says how to mend them, and an unknown tool with -32602', async () => {
    const wrong = await client.call('sleep', { ms: 'soon' });
    expect(wrong.isError).toBe(true);
    expect(wrong.content[0]?.text).toMatch(/ms/);
    await expect(client.call('no_such_tool')).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('Unknown tool: no_such_tool'),
    });
  });

  it('takes an idempotency key and a trace from _meta', async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const meta = { 'io.toolyard/sessionId': 'idem', 'io.toolyard/idempotencyKey': 'k1', traceparent };
    const [first, second] = [1, 2].map(() => client.call('echo', { n: 1 }, { meta, onprogress: () => {} }));
    const { id } = await callIn('idem');
    await gateways[0].run(id, 'once');
    expect((await Promise.all([first, second])).map((result) => result?._meta?.['io.toolyard/callId'])).toEqual([id, id]);
    expect((await agent().events(id))[0]).toMatchObject({ type: 'call.submitted', traceparent });
  });

  it('sends increasing progress from updates, the last of it before the result', async () => {
    const steps: { progress: number; message?: string | undefined }[] = [];
    const answering = client.call('echo', {}, { ...inSession('progress'), onprogress: (step) => steps.push(step) });
    const { id } = await callIn('progress');
    const attempt = await gateways[0].claim(id);
    await attempt.update('half');
    await eventually(() => steps.some(({ message }) => message === 'half'), 'the update as progress');
    await attempt.update('nearly');
    await attempt.end('all');
    expect((await answering).content[0]?.text).toBe('all');
    const seen = steps.length;
    expect(steps.at(-1)?.message).toBe('nearly');
    const numbers = steps.map(({ progress }) => progress);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    await client.tools();
    expect(steps).toHaveLength(seen);
  });

  it('cancels the call when the MCP client gives the request up', async () => {
    const gone = new AbortController();
    const answering = client.call('echo', {}, { ...inSession('cancel'), signal: gone.signal, onprogress: () => {} });
    const { id } = await callIn('cancel');
    gone.abort('not needed');
    await expect(answering).rejects.toThrow(/not needed/);
    expect((await agent().ended(id)).outcome).toBe('cancelled');
  });

  it('tells a client without progress how to ask again, and call_result brings the result', async () => {
    const early = await client.call('echo', {}, inSession('long'));
    const { id } = await callIn('long');
    expect(early).toMatchObject({ isError: false, _meta: { 'io.toolyard/callId': id, 'io.toolyard/status': 'queued' } });
    expect(early.content[0]?.text).toContain(`call_result with {"callId":"${id}"}`);
    const waiting = client.call('call_result', { callId: id, waitMs: 20_000 });
    await gateways[1].run(id, 'late');
    expect((await waiting).content[0]?.text).toBe('late');
    expect(await client.call('call_result', { callId: 5 })).toMatchObject({ isError: true });
    const other = await connect({ key: SUBMITTER });
    expect((await other.call('call_result', { callId: id })).content[0]?.text).toContain('No call with the id');
  });

  it('answers tools/call with an error result for a tool with an output schema when its call goes on', async () => {
    expect(await client.call('weather', {}, inSession('long-structured'))).toMatchObject({ isError: true });
  });

  it('asks the user of the client for approval, and an acceptance runs the call once', async () => {
    const questions: string[] = [];
    const asking = await connect({
      user: (question) => {
        questions.push(question);
        return { action: 'accept', content: { approve: true } };
      },
    });
    const answering = asking.call('shell', { command: 'make deploy' }, untilEnd('approve'));
    const { id } = await callIn('approve');
    await gateways[0].run(id, 'deployed');
    expect((await answering).content[0]?.text).toBe('deployed');
    expect(questions).toHaveLength(1);
    expect(questions[0]).toContain('May the tool shell run?');
    expect(questions[0]).toContain('make deploy');
    const { body } = await agent().get(`/v1/calls/${id}`);
    expect(body.approval?.decided).toMatchObject({ decision: 'allow', scope: 'once', by: 'apikey:all' });
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
    const answering = asking.call('shell', { command: 'make deploy' }, untilEnd('edit'));
    const { id } = await callIn('edit');
    await gateways[0].run(id, 'tested');
    expect((await answering).content[0]?.text).toBe('tested');
    const { body } = await agent().get(`/v1/calls/${id}`);
    expect(body.arguments).toMatchObject({ command: 'make test' });
    expect(body.approval?.decided).toMatchObject({ decision: 'allow', edited: expect.anything() });
  });

  it('runs nothing with changed arguments that are not allowed; the call goes on waiting', async () => {
    const asking = await connect({ user: () => ({ action: 'accept', content: { approve: true, arguments: '{"order":66}' } }) });
    const result = await asking.call('shell', { command: 'make deploy' }, untilEnd('edit-wrong'));
    expect(result.isError).toBe(true);
    const { id } = await callIn('edit-wrong', 'waiting_approval');
    await agent().request('POST', `/v1/calls/${id}/cancel`, {});
  });

  it('says how to approve when the user dismisses the form, also to a client that waits with progress', async () => {
    const asking = await connect({ user: () => ({ action: 'cancel' }) });
    const result = await asking.call('shell', { command: 'date' }, untilEnd('dismiss'));
    expect(result).toMatchObject({ isError: true, _meta: { 'io.toolyard/status': 'waiting_approval' } });
    const { id } = await callIn('dismiss', 'waiting_approval');
    expect(result.content[0]?.text).toContain(`POST /v1/calls/${id}/decision`);
    await agent().request('POST', `/v1/calls/${id}/cancel`, {});
  });

  it('waits in call_result as long as waitMs says, also with progress', async () => {
    const early = await client.call('echo', {}, inSession('patient'));
    const callId = early._meta?.['io.toolyard/callId'];
    const result = await client.call('call_result', { callId, waitMs: 50 }, { onprogress: () => {} });
    expect(result).toMatchObject({ isError: false, _meta: { 'io.toolyard/callId': callId, 'io.toolyard/status': 'queued' } });
    await agent().request('POST', `/v1/calls/${String(callId)}/cancel`, {});
  });

  it('takes the first answer: the dashboard may decide while the MCP client asks', async () => {
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
    const answering = asking.call('shell', { command: 'date' }, untilEnd('first'));
    await asked;
    const { id } = await callIn('first', 'waiting_approval');
    expect((await agent().request('POST', `/v1/calls/${id}/decision`, { decision: 'allow' })).status).toBe(200);
    release?.();
    await gateways[0].run(id, 'by the dashboard');
    expect((await answering).content[0]?.text).toBe('by the dashboard');
  });

  it.each([
    ['a client without elicitation', BOOTSTRAP_KEY, false],
    ['a key without the scope approve', SUBMITTER, true],
  ])('tells %s how a call is approved; nothing runs', async (_who, key, elicits) => {
    const plain = await connect({ key, ...(elicits ? { user: () => ({ action: 'accept', content: { approve: true } }) } : {}) });
    const sessionId = `howto-${elicits}`;
    const result = await plain.call('shell', { command: 'date' }, inSession(sessionId));
    const { id } = await callIn(sessionId, 'waiting_approval');
    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toContain(`POST /v1/calls/${id}/decision`);
    await agent().request('POST', `/v1/calls/${id}/decision`, { decision: 'allow' });
    const waiting = plain.call('call_result', { callId: id, waitMs: 20_000 });
    await gateways[0].run(id, 'approved elsewhere');
    expect((await waiting).content[0]?.text).toBe('approved elsewhere');
  });

  it('links the whole of a cut output, for the key that made the call', async () => {
    const answering = client.call('echo', {}, untilEnd('output'));
    const { id } = await callIn('output');
    const truncated = { originalBytes: 5, artifactUri: `/v1/calls/${id}/output` };
    await gateways[0].run(id, '', { result: { content: [{ type: 'text', text: 'whole' }], isError: false, truncated } });
    const { content } = await answering;
    const uri = `toolyard://calls/${id}/output`;
    expect(content.at(-1)).toMatchObject({ type: 'resource_link', uri, mimeType: 'text/plain', size: 5 });
    expect(await client.read(uri)).toBe('whole');
    const other = await connect({ key: SUBMITTER });
    await expect(other.read(uri)).rejects.toThrow(/not found/i);
  });

  it('tells MCP clients that the tools have changed when they have', async () => {
    let changes = 0;
    const listening = await connect({ onToolsChanged: () => (changes += 1) });
    await listening.tools();
    const tool = describeTool({ name: 'added_later', description: 'For tests.', source: 'later', input: { type: 'object' } });
    const source = { name: 'later', list: () => [tool], onChange: () => () => {}, close: () => Promise.resolve() };
    await eventually(async () => {
      for (const { app } of gateways) {
        const registry = app.get(ToolRegistry);
        if (registry.resolve('added_later') === undefined) registry.add(source as never);
      }
      return changes > 0;
    }, 'the notification of a changed tool list');
    expect((await listening.tools()).tools.map(({ name }) => name)).toContain('added_later');
  });
});
