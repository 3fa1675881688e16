import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallEvent, CallPage, Problem } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';
import { readSse } from '../support/sse.js';

let tenant: Tenant;
let agent: Agent;

beforeAll(async () => {
  tenant = await useTenant('http-contract', { held: true, keys: { submitter: { scopes: ['submit', 'read'] } } });
  agent = tenant.agent;
});
afterAll(() => tenant?.close());

const ended = async (sessionId?: string): Promise<string> => {
  const { body } = await agent.submit('held', {}, sessionId === undefined ? {} : { sessionId });
  await tenant.held.run(body.id);
  return body.id;
};

describe('HEAD', () => {
  it.each([
    '/v1/calls/{id}',
    '/v1/calls/{id}/events',
    '/v1/calls/{id}/output',
    '/v1/tools',
    '/v1/queues',
    '/livez',
    '/openapi.json',
    '/docs',
    '/',
  ])('answers HEAD of %s as GET does, without the body', async (path) => {
    const url = path.replace('{id}', await ended());
    const both = () => Promise.all([agent.get(url), agent.request('HEAD', url)]);
    const [get, head] = await both();
    const headers = ({ headers: all }: typeof get) =>
      Object.fromEntries(
        [...all].filter(
          ([name]) => !['date', 'content-length', 'transfer-encoding', 'ratelimit', 'connection', 'keep-alive'].includes(name),
        ),
      );
    expect([head.status, head.body]).toEqual([200, '']);
    expect(headers(head)).toEqual(headers(get));
    if (!get.headers.has('content-length')) return;
    // The numbers of the queues may change between two answers: other test files use them too.
    await eventually(async () => {
      const [ofGet, ofHead] = (await both()).map((answer) => answer.headers.get('content-length'));
      return ofGet === ofHead;
    }, `the same length of ${path}`);
  });

  it('ends HEAD at once on an event stream, and refuses it as GET', async () => {
    const stream = await agent.request('HEAD', '/v1/events', undefined, { accept: 'text/event-stream' });
    expect([stream.status, stream.headers.get('content-type'), stream.body]).toEqual([200, 'text/event-stream; charset=utf-8', '']);
    expect((await agent.request('HEAD', '/v1/calls/00-01JZ8C5W3Q4X9R7T2M6K8N0P1V')).status).toBe(404);
    expect((await new Agent(tenant.url, 'no such key').request('HEAD', '/v1/tools')).status).toBe(401);
    const allowed = (await agent.request('PUT', '/v1/tools', {})).headers.get('allow');
    expect(allowed?.split(', ').sort()).toEqual(['GET', 'HEAD']);
  });
});

describe('an EventSource that comes back', () => {
  it('answers a returning EventSource with 204 after the End of its call, and continues before it', async () => {
    const id = await ended();
    const path = `/v1/calls/${id}/events`;
    const messages = await readSse(tenant.url + path, { key: agent.key });
    expect(messages.map(({ event }) => event)).toEqual(['call.submitted', 'call.start', 'call.end']);
    const ask = (lastEventId: string) => agent.get<string>(path, { accept: 'text/event-stream', 'last-event-id': lastEventId });
    const over = await ask(messages.at(-1)?.id ?? '');
    expect([over.status, over.body]).toEqual([204, '']);
    const before = await ask(messages.at(-2)?.id ?? '');
    expect([before.status, before.body.includes('event: call.end')]).toEqual([200, true]);
    expect((await ask('rubbish')).status).toBe(422);
  });
});

describe('the events of a call', () => {
  it('lists the events of a call page by page, each once, in order', async () => {
    const [call, neighbour] = await Promise.all([1, 2].map(() => agent.submit('held', {}, { sessionId: 'pages' })));
    const ids = [call, neighbour].map((it) => it?.body.id ?? '');
    await tenant.held.writeEvents(ids, 10);
    await tenant.held.run(ids[0] ?? '');
    const path = `/v1/calls/${call?.body.id}/events`;
    const whole = await agent.get<{ events: CallEvent[]; nextCursor?: string }>(path);
    expect([whole.body.events.length, whole.body.nextCursor]).toEqual([23, undefined]);

    const paged: CallEvent[] = [];
    for (let query = '?limit=7'; ;) {
      const { body } = await agent.get<{ events: CallEvent[]; nextCursor?: string }>(path + query);
      expect(body.events.length).toBeLessThanOrEqual(7);
      paged.push(...body.events);
      if (body.nextCursor === undefined) break;
      query = `?limit=7&cursor=${body.nextCursor}`;
    }
    expect(paged).toEqual(whole.body.events);
    const afterThird = await agent.get<{ events: CallEvent[] }>(`${path}?cursor=${paged[2]?.id}`);
    expect(afterThird.body.events).toEqual(paged.slice(3));
    for (const query of ['?limit=0', '?limit=1001', '?cursor=rubbish', '?surprise=1'])
      expect([query, (await agent.get<Problem>(path + query)).status]).toEqual([query, 422]);
  });
});

describe('Prefer: wait=n, cancel-on-disconnect', () => {
  const abandon = async (prefer: string, toolCallId: string): Promise<string> => {
    const leaving = new AbortController();
    const asked = fetch(`${tenant.url}/v1/calls`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.key}`, 'content-type': 'application/json', prefer },
      body: JSON.stringify({ tool: 'held', toolCallId }),
      signal: leaving.signal,
    }).catch((error: unknown) => error);
    const found = await eventually(async () => (await agent.get<CallPage>(`/v1/calls?toolCallId=${toolCallId}`)).body.calls[0], 'the call');
    leaving.abort();
    await asked;
    return found.id;
  };

  it('cancels a call with cancel-on-disconnect when its client disconnects, and no other', async () => {
    const kept = await abandon('wait=30', 'toolu_kept');
    const cancelled = await agent.ended(await abandon('wait=30, cancel-on-disconnect', 'toolu_left'));
    expect(cancelled).toMatchObject({ outcome: 'cancelled', error: { message: expect.stringContaining('went away') } });
    expect((await agent.get(`/v1/calls/${kept}`)).body.status).toBe('queued');
  });

  it('confirms cancel-on-disconnect, ignores it after the answer, and requires the scope cancel', async () => {
    const prefer = 'wait=1, cancel-on-disconnect';
    const answered = await agent.submit('held', {}, {}, { prefer });
    expect([answered.status, answered.headers.get('preference-applied')]).toEqual([202, prefer]);
    expect((await agent.get(`/v1/calls/${answered.body.id}`)).body.status).toBe('queued');
    const refused = await tenant.agentOf('submitter').request<Problem>('POST', '/v1/calls', { tool: 'held' }, { prefer });
    expect([refused.status, refused.body.code, refused.body.result?.isError]).toEqual([403, 'forbidden', true]);
  });
});

describe('a call of a model', () => {
  it('finds a call by the model’s id', async () => {
    const wanted = await agent.submit('held', {}, { toolCallId: 'call_8Hq2-x' });
    await agent.submit('held', {}, { toolCallId: 'call_8Hq2-y' });
    const ids = async (query: string) => (await agent.get<CallPage>(`/v1/calls?${query}`)).body.calls.map(({ id }) => id);
    const both = await eventually(async () => {
      const found = await ids('toolCallId=call_8Hq2-x,call_8Hq2-y');
      return found.length >= 2 ? found : undefined;
    }, 'both calls to be listed');
    expect(both).toHaveLength(2);
    expect(await ids('toolCallId=call_8Hq2-x')).toEqual([wanted.body.id]);
    expect(await ids('toolCallId=call_8Hq2')).toEqual([]);
    expect((await agent.get('/v1/calls:count?toolCallId=call_8Hq2-x')).body).toMatchObject({ count: 1, exact: true });
  });

  it('lists the tools in the shape of OpenAI’s Responses API', async () => {
    const { body } = await agent.get<{ tools: object[] }>('/v1/tools?format=openai-responses&q=echo');
    expect(body.tools).toEqual([
      {
        type: 'function',
        name: 'echo',
        description: expect.any(String),
        parameters: expect.objectContaining({ type: 'object' }),
        strict: false,
      },
    ]);
  });
});
