import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CLOSE_CODES, type Batch, type ApiKeyConfig, type Problem } from '#contracts';
import { readGatewayConfig, type GatewayConfig } from '../../apps/gateway/src/platform/gateway.config.js';
import { Agent, Stream } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';
import { connectMcp, REVISIONS } from '../support/mcp-clients.js';
import { openSse } from '../support/sse.js';

const TENANT = 'key-changes';
const RIVAL = 'key-changes-rival';
type Entry = Partial<ApiKeyConfig> & { readonly id: string; readonly key: string };

/** Changes of a key in the config file; none for a removed key. */
const CHANGES = {
  removed: () => [],
  expired: (entry: Entry) => [{ ...entry, expiresAt: '2020-01-01T00:00:00Z' }],
  'given fewer scopes': (entry: Entry) => [{ ...entry, scopes: ['cancel'] }],
  'moved to another tenant': (entry: Entry) => [{ ...entry, tenant: RIVAL }],
} as const satisfies Record<string, (entry: Entry) => readonly object[]>;
type Change = keyof typeof CHANGES;
const CHANGE_NAMES = ['removed', 'expired', 'given fewer scopes', 'moved to another tenant'] as const;
const codeOf = (change: Change) => (change === 'given fewer scopes' ? 'forbidden' : 'unauthenticated');

describe('what is open when its key changes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-key-changes-'));
  const path = join(folder, 'toolyard.json');
  const entries = new Map<string, readonly object[]>();
  let gateway: TestGateway;
  let keys = 0;

  /** Files of a hook before `glob`: the hook writes the first and waits for the second. */
  const [asked, goOn] = [join(folder, 'asked'), join(folder, 'go-on')];
  const hook = {
    name: 'gate',
    on: 'before',
    match: ['glob'],
    command: `echo >> ${asked}; until [ -e ${goOn} ]; do sleep 0.02; done`,
    timeoutMs: 60_000,
  };
  const save = () => writeFileSync(path, JSON.stringify({ keys: [...entries.values()].flat(), hooks: [hook] }));
  const configured = (): GatewayConfig => {
    const read = readGatewayConfig({ TOOLYARD_API_KEY: BOOTSTRAP_KEY, TOOLYARD_CONFIG: path });
    return { ...read, keys: read.keys.map((entry) => (entry.id === 'bootstrap' ? { ...entry, tenant: TENANT } : entry)) };
  };
  beforeAll(async () => {
    save();
    gateway = await startTestGateway(TENANT, { hooks: configured().hooks ?? [], file: { path, read: configured } });
  });
  afterAll(async () => {
    await gateway.close();
    rmSync(folder, { recursive: true });
  });

  /** A key that the gateway knows, and how to change it; `change` resolves when single requests meet the change. */
  async function newKey(more: Partial<ApiKeyConfig> = {}) {
    const id = `key-${++keys}`;
    const entry: Entry = { id, key: `key-of-the-changes-number-${keys}`, tenant: TENANT, ...more };
    const agent = new Agent(gateway.url, entry.key);
    const meets = (expected: (answer: readonly [number, string | undefined]) => boolean) =>
      eventually(async () => {
        const { status, body } = await agent.get<{ tenantId?: string }>('/v1/whoami');
        return expected([status, body.tenantId]);
      }, 'the changed file to hold');
    entries.set(id, [entry]);
    save();
    await meets(([status]) => status === 200);
    const change = async (how: Change) => {
      entries.set(id, CHANGES[how](entry));
      save();
      await meets(([status, tenant]) => status !== 200 || tenant === RIVAL);
    };
    return { agent, entry, change };
  }

  it.each(CHANGE_NAMES)('sends no further event to a WebSocket whose key was %s', async (how) => {
    const { agent, change } = await newKey();
    const stream = await agent.stream();
    try {
      stream.send({ op: 'subscribe', id: 'all', filter: {} });
      await stream.frame('subscribed', 'all');
      const { body: before } = await gateway.agent.submit('echo', {});
      await eventually(() => stream.events('all').some(({ event }) => event.subject === before.id), 'an event before');
      await change(how);
      const { problem } = await stream.frame('error', how === 'given fewer scopes' ? 'all' : undefined);
      expect(problem.code).toBe(codeOf(how));
      const { body: after } = await gateway.agent.submit('echo', {});
      await gateway.run(after.id);
      if (how === 'given fewer scopes') {
        stream.send({ op: 'submit', id: 'refused', call: { tool: 'echo' } });
        expect((await stream.frame('error', 'refused')).problem.code).toBe('forbidden');
        stream.send({ op: 'cancel', id: 'kept', callId: before.id });
        expect((await stream.frame('ok', 'kept')).call.id).toBe(before.id);
      } else expect((await eventually(() => stream.closed, 'the close')).code).toBe(CLOSE_CODES.unauthenticated);
      expect(stream.events().some(({ event }) => event.subject === after.id)).toBe(false);
    } finally {
      stream.close();
    }
  });

  it.each(CHANGE_NAMES)('ends an event stream whose key was %s, with the reason, and sends no further event', async (how) => {
    const { agent, entry, change } = await newKey();
    const sse = await openSse(`${gateway.url}/v1/events`, entry.key);
    const { body: before } = await gateway.agent.submit('echo', {});
    await eventually(() => sse.text().includes(before.id), 'an event before');
    await change(how);
    await eventually(() => sse.ended(), 'the end of the stream');
    expect(sse.text()).toContain(`: ${codeOf(how)}: `);
    if (how === 'moved to another tenant') return;
    const again = await agent.get<Problem>('/v1/events', { accept: 'text/event-stream' });
    expect(again.body.code).toBe(codeOf(how));
  });

  const WAIT = { prefer: 'wait=60' };
  const WAITS: readonly (readonly [
    string,
    (agent: Agent, repeated: string, callId: string) => Promise<{ status: number; body: unknown }>,
  ])[] = [
    ['call', (agent, _key, callId) => agent.get(`/v1/calls/${callId}?wait=60`)],
    ['submission', (agent) => agent.submit('echo', {}, {}, WAIT)],
    ['repeated submission', (agent, key) => agent.submit('echo', {}, {}, { 'idempotency-key': key, ...WAIT })],
    ['batch', (agent) => agent.request('POST', '/v1/batches', { calls: [{ tool: 'echo' }] }, WAIT)],
  ];
  it.each(CHANGE_NAMES.flatMap((how) => WAITS.map(([what, wait]) => [what, how, wait] as const)))(
    'answers a wait for a %s whose key was %s with that fault',
    async (_what, how, wait) => {
      const { agent, change } = await newKey();
      const { body: call } = await gateway.agent.submit('echo', {});
      await agent.submit('echo', {}, {}, { 'idempotency-key': call.id });
      const waiting = wait(agent, call.id, call.id);
      await agent.get('/v1/whoami'); // The request before has arrived, too.
      await change(how);
      const { status, body } = await waiting;
      expect([status, (body as Problem).code]).toEqual([how === 'given fewer scopes' ? 403 : 401, codeOf(how)]);
    },
  );

  it.each(REVISIONS.flatMap((revision) => CHANGE_NAMES.map((how) => [revision, how] as const)))(
    'gives an MCP client of revision %s no result more of a call whose key was %s, and refuses its requests',
    async (revision, how) => {
      const { agent, entry, change } = await newKey();
      const client = await connectMcp(revision, { key: entry.key, urls: [gateway.url] });
      const stream = await gateway.agent.stream();
      try {
        stream.send({ op: 'subscribe', id: 'all', filter: {} });
        await stream.frame('subscribed', 'all');
        const said = client.call('echo').then(
          (result) => JSON.stringify(result),
          (error: unknown) => `refused: ${String(error)}`,
        );
        const isNew = ({ event }: { event: { type: string } }) => event.type === 'call.submitted';
        const callId = await eventually(() => stream.events('all').find(isNew)?.event.subject, 'the call');
        await change(how);
        await gateway.run(callId, 'only for the key as it was');
        expect(await said).not.toContain('only for the key as it was');
        expect((await agent.get<Problem>(`/v1/calls/${callId}`)).body.code ?? 'none').toBe(
          how === 'moved to another tenant' ? 'resource_not_found' : codeOf(how),
        );
        const again = client.tools().then(
          () => 'listed',
          () => 'refused',
        );
        if (how !== 'moved to another tenant') expect(await again).toBe('refused');
        await again;
      } finally {
        stream.close();
        await client.close().catch(() => undefined);
      }
    },
  );

  it.each(CHANGE_NAMES)('starts no further call of a batch whose key was %s', async (how) => {
    const { agent, change } = await newKey();
    const { body: batch } = await agent.request<Batch>('POST', '/v1/batches', {
      strategy: { type: 'sequential' },
      calls: [{ tool: 'echo' }, { tool: 'echo' }, { tool: 'echo' }],
    });
    const look = async () => (await gateway.agent.get<Batch>(`/v1/batches/${batch.id}`)).body;
    const first = await eventually(async () => (await look()).results[0]?.callId, 'the first call');
    const attempt = await gateway.claim(first);
    await change(how);
    await attempt.end('done');
    const ended = await eventually(async () => {
      const now = await look();
      return now.status === 'ended' ? now : undefined;
    }, 'the batch to end');
    expect(ended.stopped).toMatchObject({ reason: 'forbidden', detail: expect.any(String) });
    expect(ended.results.map(({ outcome }) => outcome)).toEqual(['completed', 'cancelled', 'cancelled']);
  });

  it('starts no further call of a batch whose key may no longer act for its agent', async () => {
    const { agent, entry } = await newKey({ agents: ['bot'] });
    const body = { agentId: 'bot', strategy: { type: 'sequential' }, calls: [{ tool: 'echo' }, { tool: 'echo' }] };
    const { body: batch } = await agent.request<Batch>('POST', '/v1/batches', body);
    const look = async () => (await gateway.agent.get<Batch>(`/v1/batches/${batch.id}`)).body;
    const first = await eventually(async () => (await look()).results[0]?.callId, 'the first call');
    entries.set(entry.id, [{ ...entry, agents: [] }]);
    save();
    await eventually(async () => (await agent.submit('echo', {}, { agentId: 'bot' })).status === 403, 'the changed file to hold');
    await gateway.run(first);
    await eventually(async () => (await look()).stopped?.reason === 'forbidden', 'the batch to stop');
  });

  it.each([...CHANGE_NAMES, 'given fewer tools'] as const)(
    'denies a call at the yes of a person when its key was %s while it waited',
    async (how) => {
      const { agent, entry, change } = await newKey();
      const sessionId = `waits-${entry.id}`;
      await gateway.agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
      const { body: waiting } = await agent.submit('file_write', { path: 'a.txt', content: 'x' }, { sessionId });
      expect(waiting.status).toBe('waiting_approval');
      if (how === 'given fewer tools') {
        entries.set(entry.id, [{ ...entry, tools: ['echo'] }]);
        save();
        await eventually(async () => (await agent.submit('file_read', { path: 'a.txt' })).status === 403, 'the changed file to hold');
      } else await change(how);
      const { body: call } = await gateway.agent.request('POST', `/v1/calls/${waiting.id}/decision`, { decision: 'allow' });
      expect(call).toMatchObject({
        outcome: 'denied',
        attempt: 0,
        error: { code: 'policy_denied', message: expect.stringContaining(entry.id) },
      });
    },
  );

  it('refuses a call whose key changes during its hooks, and runs nothing of it', async () => {
    const { agent, change } = await newKey();
    const submitting = agent.request<Problem>('POST', '/v1/calls', { tool: 'glob', arguments: { pattern: '*' } });
    await eventually(() => existsSync(asked), 'the hook to be asked');
    await change('removed');
    writeFileSync(goOn, '');
    const { status, body } = await submitting;
    expect([status, body.code, body.callId]).toEqual([401, 'unauthenticated', undefined]);
  });

  const LOSSES: [loss: string, code: string, after: (entry: Entry) => readonly object[]][] = [
    ['was removed', 'unauthenticated', () => []],
    ['lost the tool', 'forbidden', (entry) => [{ ...entry, tools: ['echo'] }]],
    ['lost the agent', 'forbidden', (entry) => [{ ...entry, agents: [] }]],
  ];
  it.each(LOSSES)('refuses calls whose key %s during their hooks, alone and in a batch', async (_loss, code, after) => {
    for (const file of [asked, goOn]) rmSync(file, { force: true });
    const { agent, entry } = await newKey({ agents: ['bot'] });
    const call = { tool: 'glob', arguments: { pattern: '*' } };
    const submitting = agent.request<Problem>('POST', '/v1/calls', { ...call, agentId: 'bot' });
    const { body: batch } = await agent.request<Batch>('POST', '/v1/batches', { agentId: 'bot', calls: [call] });
    await eventually(() => existsSync(asked) && readFileSync(asked, 'utf8').length === 2, 'both hooks to be asked');
    entries.set(entry.id, after(entry));
    save();
    await eventually(async () => (await agent.submit('file_read', {}, { agentId: 'bot' })).status < 404, 'the changed file to hold');
    writeFileSync(goOn, '');
    expect((await submitting).body).toMatchObject({ code });
    const { results } = await eventually(async () => {
      const { body } = await gateway.agent.get<Batch>(`/v1/batches/${batch.id}`);
      return body.status === 'ended' ? body : undefined;
    }, 'the batch to end');
    expect(results).toMatchObject([{ outcome: 'denied', error: { code: 'policy_denied' } }]);
  });

  it('counts requests by the rate that their key has now', async () => {
    const { agent, entry } = await newKey({ ratePerMinute: 1000 });
    const policy = async () => (await agent.get('/v1/whoami')).headers.get('ratelimit-policy');
    expect(await policy()).toBe('"requests";q=1000;w=60');
    entries.set(entry.id, [{ ...entry, ratePerMinute: 2000 }]);
    save();
    await eventually(async () => (await policy()) === '"requests";q=2000;w=60', 'the changed rate to hold');
  });

  it('ends streams by themselves when their key expires', async () => {
    const { entry } = await newKey();
    const sse = await openSse(`${gateway.url}/v1/events`, entry.key);
    const socket = new Stream(gateway.url, entry.key);
    await socket.frame('ready');
    entries.set(entry.id, [{ ...entry, expiresAt: new Date(Date.now() + 3000).toISOString() }]);
    save();
    await eventually(() => sse.ended(), 'the end of the stream');
    expect(sse.text()).toContain(': unauthenticated: The API key has expired');
    expect((await eventually(() => socket.closed, 'the close')).code).toBe(CLOSE_CODES.unauthenticated);
    expect((await socket.frame('error')).problem.code).toBe('unauthenticated');
  });
});
