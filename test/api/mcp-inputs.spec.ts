import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallEvent, CallPage } from '#contracts';
import { eventually } from '../support/eventually.js';
import type { HeldAttempt } from '../support/installation/held-calls.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';
import { connectMcp, REVISIONS, type ConnectOptions, type TestClient } from '../support/mcp-clients.js';

type Question = Parameters<HeldAttempt['requestInput']>[0];
const BRANCH: Question = { prompt: 'Which branch?', inputSchema: { type: 'string', enum: ['main', 'next'] } };
const RELEASE: Question = {
  prompt: 'Which release?',
  inputSchema: {
    type: 'object',
    properties: { name: { type: 'string', minLength: 1 }, count: { type: 'integer', minimum: 1 }, isDraft: { type: 'boolean' } },
    required: ['name'],
  },
};
const DEEP: Question = { prompt: 'Where?', inputSchema: { type: 'object', properties: { at: { type: 'object' } }, required: ['at'] } };

describe.each(REVISIONS)('a tool that asks for input, called over /mcp in revision %s at two gateways', (revision) => {
  let tenant: Tenant;
  const clients: TestClient[] = [];
  beforeAll(async () => {
    tenant = await useTenant(`mcp-inputs-${revision}`, {
      keys: { submitter: { scopes: ['submit', 'read'] } },
      held: true,
      settings: {
        posture: { autonomy: 'full', permissionMode: 'workspace-write' },
        // Calls of it require approval.
        policy: { toolsSettings: { held_write: { tier: 'privileged' } } },
      },
    });
  });
  afterEach(async () => {
    for (const connected of clients.splice(0)) await connected.close();
  });
  afterAll(() => tenant?.close());

  const connect = async (options: Partial<ConnectOptions> = {}): Promise<TestClient> => {
    const connected = await connectMcp(revision, { key: tenant.keyOf('main'), urls: [tenant.url, tenant.otherUrl], ...options });
    clients.push(connected);
    return connected;
  };
  const callIn = (sessionId: string, status = 'queued') =>
    eventually(async () => {
      const { body } = await tenant.agent.get<CallPage>(`/v1/calls?sessionId=${sessionId}&status=${status}`);
      return body.calls[0];
    }, `a call in the session ${sessionId}`);
  const inSession = (sessionId: string) => ({ meta: { 'io.toolyard/sessionId': sessionId } });
  const asks = async (id: string, question: Question) => (await tenant.held.claim(id)).requestInput(question);
  const given = async (id: string) => {
    const event = await eventually(
      async () => (await tenant.agent.events(id)).findLast(({ type }) => type === 'call.input_given'),
      `a value for the call ${id}`,
    );
    return (event as CallEvent & { type: 'call.input_given' }).data;
  };

  it.each([
    ['of a text with choices in one field', 'choice', BRANCH, { value: 'next' }, 'next'],
    ['as the flat object of its schema', 'flat', RELEASE, { name: 'v2', count: 3, isDraft: true }, { name: 'v2', count: 3, isDraft: true }],
    ['as JSON where its schema is no form', 'deep', DEEP, { value: '{"at":{"x":1}}' }, { at: { x: 1 } }],
  ])('accepts the value %s from the user of the MCP client, also with progress', async (_title, session, question, content, value) => {
    const forms: unknown[] = [];
    const user = (message: string, form: unknown) => {
      forms.push([message, form]);
      return { action: 'accept' as const, content };
    };
    const asking = await connect({ key: tenant.keyOf('submitter'), user });
    for (const options of [inSession(session), { ...inSession(`${session}-progress`), onprogress: () => {} }]) {
      const answering = asking.call('held', {}, options);
      const { id } = await callIn(options.meta['io.toolyard/sessionId']);
      await asks(id, question);
      expect(await given(id)).toMatchObject({ request: 1, value });
      await tenant.held.run(id);
      expect((await answering).content[0]?.text).toBe('done');
    }
    const fields = Object.keys(content).map((name) => [name, expect.anything()]);
    const form = { type: 'object', properties: Object.fromEntries(fields) };
    expect(forms).toEqual([1, 2].map(() => [expect.stringContaining(question.prompt), expect.objectContaining(form)]));
  });

  it('asks for input after the call was approved, and may ask again', async () => {
    const messages: string[] = [];
    const asking = await connect({
      user: (message) => {
        messages.push(message);
        const answers: Record<string, string | boolean>[] = [{ approve: true }, { value: 'main' }, { value: 'next' }];
        return { action: 'accept', content: answers[messages.length - 1] ?? {} };
      },
    });
    const answering = asking.call('held_write', {}, inSession('both'));
    const { id } = await callIn('both');
    await asks(id, BRANCH);
    expect(await given(id)).toMatchObject({ request: 1, value: 'main' });
    await asks(id, BRANCH);
    await tenant.held.run(id);
    expect((await answering).content[0]?.text).toBe('done');
    expect(await given(id)).toMatchObject({ request: 2, value: 'next' });
    expect(messages).toEqual([
      expect.stringContaining('May the tool held_write run?'),
      ...[1, 2].map(() => expect.stringContaining('Which branch?')),
    ]);
  });

  it('reports increasing progress of a call, each step once, before and after a question for the user of the MCP client', async () => {
    const asking = await connect({ user: () => ({ action: 'accept', content: { value: 'next' } }) });
    const steps: { progress: number; message?: string | undefined }[] = [];
    const answering = asking.call('held', {}, { ...inSession('steps'), onprogress: (step) => steps.push(step) });
    const { id } = await callIn('steps');
    const attempt = await tenant.held.claim(id);
    attempt.update('before\n');
    await eventually(() => steps.some(({ message }) => message === 'before\n'), 'the update as progress');
    await attempt.requestInput(BRANCH);
    await given(id);
    const next = await tenant.held.claim(id);
    next.update('after\n');
    await next.end('done');
    expect((await answering).content[0]?.text).toBe('done');
    // Questions end the request in the newer revision, and the next request reports the call from its beginning.
    const [first, ...again] = steps.flatMap(({ message }, index) => (message === 'before\n' ? [index] : []));
    expect(again).toHaveLength(revision === '2025-11-25' ? 0 : 1);
    const reported = steps.slice(again[0] ?? first);
    expect(reported.map(({ message }) => message)).toEqual(['before\n', 'Which branch?', 'after\n']);
    const numbers = reported.map(({ progress }) => progress);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  });

  it.each(['decline', 'cancel'] as const)(
    'keeps waiting when the user of an MCP client answers %s, and explains how to answer',
    async (action) => {
      const asking = await connect({ user: () => ({ action }) });
      const answering = asking.call('held', {}, { ...inSession(action), onprogress: () => {} });
      const { id } = await callIn(action);
      await asks(id, BRANCH);
      const result = await answering;
      expect(result).toMatchObject({ _meta: { 'io.toolyard/callId': id, 'io.toolyard/status': 'waiting_input' } });
      expect(result.content[0]?.text).toContain(`POST /v1/calls/${id}/input`);
      await tenant.agent.request('POST', `/v1/calls/${id}/cancel`, {});
    },
  );

  it('keeps waiting for input after an invalid value, and explains the fault or how to answer', async () => {
    const asking = await connect({ user: () => ({ action: 'accept', content: { value: 'not json' } }) });
    const answering = asking.call('held', {}, { ...inSession('wrong'), onprogress: () => {} });
    const { id } = await callIn('wrong');
    await asks(id, DEEP);
    expect((await answering).content[0]?.text).toMatch(/JSON|POST \/v1\/calls/);
    expect((await tenant.agent.get(`/v1/calls/${id}`)).body.status).toBe('waiting_input');
    await tenant.agent.request('POST', `/v1/calls/${id}/cancel`, {});
  });

  it('explains how to give input to an MCP client without elicitation', async () => {
    const plain = await connect();
    const answering = plain.call('held', {}, inSession('plain'));
    const { id } = await callIn('plain');
    await asks(id, BRANCH);
    const result = await answering;
    expect(result.content[0]?.text).toContain('Which branch?');
    expect(result.content[0]?.text).toContain(`POST /v1/calls/${id}/input`);
    await tenant.agent.request('POST', `/v1/calls/${id}/cancel`, {});
  });
});
