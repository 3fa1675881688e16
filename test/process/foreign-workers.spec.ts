import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ToolyardWorker, workerTool } from '#client/worker';
import {
  type ApiKeyConfig,
  type Problem,
  type ToolDescriptor,
  type WorkerCall,
  type WorkerFrame,
  type WorkerPollPage,
  type WorkerStatus,
  type WorkerWelcome,
} from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { ADD, ScriptedWorker } from '../support/foreign-worker.js';
import { roundRobin } from '../support/round-robin.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';

const OTHER_KEY = 'key-of-another-tenant-123';
const WORK_KEY = 'key-that-only-works-12345';
const LEASE_MS = 15_000;
const keys: ApiKeyConfig[] = [
  {
    id: 'all',
    tools: ['*'],
    key: 'bootstrap-key-of-the-gateway-tests',
    tenant: 'foreign',
    scopes: ['submit', 'read', 'cancel', 'work', 'operate'],
  },
  { id: 'works', key: WORK_KEY, tenant: 'foreign', scopes: ['work'], tools: ['add', 'slow*'] },
  { id: 'other', key: OTHER_KEY, tenant: 'foreign-other', scopes: ['submit', 'read', 'work'] },
];

const OPTIONS = { keys, leaseMs: LEASE_MS, stopGraceMs: 300 };

describe('workers in other languages', () => {
  let gateway: TestGateway;
  let agent: Agent;
  const open: ScriptedWorker[] = [];
  let count = 0;

  const ready = async (tool = ADD, credit = 1, key: string = WORK_KEY) => {
    const worker = await ScriptedWorker.ready(gateway.url, key, `w${++count}`, [tool], credit);
    open.push(worker);
    return worker;
  };
  const toolNames = async (as = agent) => (await as.get<{ tools: ToolDescriptor[] }>('/v1/tools')).body.tools.map(({ name }) => name);

  const submit = (args: object, more: Record<string, unknown> = {}) => agent.accepted('add', args, more);

  beforeAll(async () => {
    gateway = await startTestGateway('foreign', OPTIONS);
    agent = gateway.agent;
  });
  afterEach(async () => {
    for (const worker of open.splice(0)) worker.close();
    await eventually(async () => !(await toolNames()).includes('add'), 'the tools of gone workers to vanish');
  });
  afterAll(() => gateway.close());

  it('runs a call of a tool that a foreign worker announced, with updates, and answers done when it is written', async () => {
    const worker = await ready();
    const submitted = await agent.submit('add', { a: 1, b: 2 });
    const call = await worker.next('call');
    expect(call).toMatchObject({ callId: submitted.body.id, tool: 'add', arguments: { a: 1, b: 2 }, attempt: 1 });
    worker.send({ op: 'started', callId: call.callId, fence: call.fence });
    worker.send({ op: 'update', callId: call.callId, fence: call.fence, wseq: 1, content: [{ type: 'text', text: 'adding' }] });
    worker.send({
      op: 'finish',
      callId: call.callId,
      fence: call.fence,
      wseq: 2,
      outcome: 'completed',
      content: [{ type: 'text', text: '3' }],
    });
    expect(await worker.next('done')).toMatchObject({ callId: call.callId });
    const ended = await agent.ended(call.callId);
    expect(ended).toMatchObject({
      outcome: 'completed',
      source: `w${count}`,
      result: { content: [{ text: expect.stringMatching(/3$/) }] },
    });
    const types = new Set((await agent.events(call.callId)).map(({ type }) => type));
    expect([...types]).toEqual(['call.submitted', 'call.start', 'call.update', 'call.end']);
    worker.finish(call, 'again');
    expect(await worker.next('done')).toMatchObject({ callId: call.callId });
  });

  it('sends a worker the next call when it gives more credit during a call', async () => {
    const worker = await ready();
    const calls = [await submit({ a: 1, b: 2 }), await submit({ a: 3, b: 4 }), await submit({ a: 5, b: 6 })];
    const sent: WorkerCall[] = [];
    for (const { id } of calls) {
      const call = await worker.next('call');
      expect(call.callId).toBe(id);
      sent.push(call);
      worker.credit(1);
    }
    for (const call of sent) worker.finish(call, 'done');
    for (const { id } of calls) expect(await agent.ended(id)).toMatchObject({ outcome: 'completed', attempt: 1 });
  });

  it('serves a worker over plain HTTP: hello, poll with credit, messages, finish', async () => {
    const worker = new Agent(gateway.url, WORK_KEY);
    const source = `w${++count}`;
    const hello = { op: 'hello', protocol: 'toolyard-worker/1', worker: source, sdk: 'test/http', tools: [ADD] };
    const { status, headers, body: welcome } = await worker.request<WorkerWelcome>('POST', '/v1/workers', hello);
    expect(status).toBe(201);
    expect(welcome).toMatchObject({ tools: [{ name: 'add', pool: 'net' }], problems: [], leaseMs: LEASE_MS });
    const path = `/v1/workers/${welcome.workerId}`;
    expect(headers.get('location')).toBe(path);
    const { id } = await submit({ a: 1, b: 2 });
    const poll = (body: object) => worker.request<WorkerPollPage>('POST', `${path}/poll?wait=30`, body);
    const send = (...frames: WorkerFrame[]) => worker.request<unknown>('POST', `${path}/messages`, { frames });

    const first = await poll({ credit: [{ pool: 'net', n: 1 }] });
    expect(first).toMatchObject({ status: 200, body: { seq: 1, frames: [{ op: 'call', callId: id, tool: 'add' }] } });
    expect((await poll({ after: 0 })).body).toEqual(first.body);
    const { callId, fence } = first.body.frames[0] as WorkerCall;
    const finish = (text: string): WorkerFrame => ({
      op: 'finish',
      callId,
      fence,
      wseq: 1,
      outcome: 'completed',
      content: [{ type: 'text', text }],
    });
    expect((await send({ op: 'started', callId, fence }, finish('3'), finish('again'))).status).toBe(202);
    expect((await poll({ after: 1 })).body).toEqual({ seq: 2, frames: [{ op: 'done', callId, fence }] });
    expect((await agent.ended(id)).result?.content).toMatchObject([{ text: expect.stringMatching(/3$/) }]);

    expect((await agent.request('POST', `${path}/poll`, {})).status).toBe(404);
    expect((await send({ op: 'bye' })).status).toBe(202);
    expect((await poll({ after: 2 })).status).toBe(404);
  });

  it('serves a worker that polls two gateways in turn, with one hello', async () => {
    const other = await startTestGateway('foreign', OPTIONS);
    const { fetch, sent } = roundRobin('http://balancer', () => [gateway.url, other.url]);
    const add = workerTool({
      name: 'add',
      description: 'Adds two numbers.',
      input: z.strictObject({ a: z.number(), b: z.number() }),
      run: ({ a, b }, { onUpdate }) => {
        onUpdate('adding');
        return String(a + b);
      },
    });
    const options = { baseUrl: 'http://balancer', apiKey: WORK_KEY, name: `w${++count}`, tools: [add], slots: 3 };
    const worker = new ToolyardWorker({ ...options, fetch });
    const run = worker.run();
    try {
      await eventually(async () => (await toolNames()).includes('add'), 'the tool');
      const ids = await Promise.all(Array.from({ length: 12 }, async (_unused, a) => (await submit({ a, b: 1 })).id));
      const ended = await Promise.all(ids.map((id) => agent.ended(id)));
      expect(ended.map(({ outcome }) => outcome)).toEqual(ids.map(() => 'completed'));
      expect(sent.filter((url) => url.endsWith('/v1/workers'))).toHaveLength(1);
      const polled = (url: string) => sent.filter((it) => it.startsWith(url) && it.includes('/poll')).length;
      expect(Math.min(polled(gateway.url), polled(other.url))).toBeGreaterThan(0);
      const id = /workers\/([^/]+)\/poll/.exec(sent.join(' '))?.[1] ?? '';
      for (const url of [gateway.url, other.url])
        for (const [key, path] of [
          [OTHER_KEY, id],
          [BOOTSTRAP_KEY, id],
          [WORK_KEY, 'f-01JZ8C5W3Q4X9R7T2M6K8N0P1V'],
          [WORK_KEY, 'toolyard:cancel'],
        ] as const) {
          const refused = await new Agent(url, key).request<Problem>('POST', `/v1/workers/${path}/messages`, { frames: [{ op: 'bye' }] });
          expect(refused.body.code).toBe('resource_not_found');
        }
    } finally {
      worker.stop();
      await run;
      await other.close();
    }
  });

  it('sends no call beyond the credit, and queues calls until there is credit', async () => {
    const worker = await ready(ADD, 1);
    const ids = await Promise.all([1, 2, 3].map(async (a) => (await submit({ a, b: 0 })).id));
    const first = await worker.next('call');
    worker.finish(first, 'one');
    await worker.next('done');
    expect(worker.frames.filter(({ op }) => op === 'call')).toEqual([]);
    worker.credit(2);
    worker.finish(await worker.next('call'), 'two');
    worker.finish(await worker.next('call'), 'three');
    for (const id of ids) expect((await agent.ended(id)).outcome).toBe('completed');
  });

  it('shows tools and workers to their tenant only while connected, as privileged and run once, whatever they declare [TS-61]', async () => {
    const worker = await ready({ ...ADD, tier: 'read_only', effect: 'pure' });
    const { body } = await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools?q=add');
    expect(body.tools.find(({ name }) => name === 'add')).toMatchObject({ tier: 'privileged', effect: 'once', available: { ok: true } });
    const workers = (await agent.get<{ workers: WorkerStatus[] }>('/v1/workers')).body.workers;
    expect(workers.find(({ foreign }) => foreign?.source === `w${count}`)).toMatchObject({ foreign: { sdk: 'test/1', tools: ['add'] } });
    const other = new Agent(gateway.url, OTHER_KEY);
    expect(await toolNames(other)).not.toContain('add');
    expect((await other.get<{ workers: WorkerStatus[] }>('/v1/workers')).body.workers.filter(({ foreign }) => foreign)).toEqual([]);
    expect((await other.submit('add', { a: 1, b: 1 })).status).toBe(404);
    worker.close();
    // Ten times what it may take.
    await eventually(async () => !(await toolNames()).includes('add'), 'the tool of the gone worker to vanish', 20_000);
    expect((await agent.submit('add', { a: 1, b: 1 })).status).toBe(404);
  });

  it('cancels the call in the worker, and answers a later finish with stale', async () => {
    const worker = await ready();
    const { id } = await submit({ a: 1, b: 2 });
    const call = await worker.next('call');
    await agent.request('POST', `/v1/calls/${id}/cancel`, { graceMs: 100 });
    expect(await worker.next('cancel')).toMatchObject({ callId: id, reason: 'cancelled' });
    expect((await agent.ended(id)).outcome).toBe('cancelled');
    await worker.next('stale');
    worker.finish(call, 'too late');
    expect(await worker.next('stale')).toMatchObject({ callId: id });
  });

  it('ends a call of a foreign worker at its deadline', async () => {
    const worker = await ready();
    const { id } = await submit({ a: 1, b: 2 }, { timeouts: { runMs: 100 } });
    await worker.next('call');
    expect(await worker.next('cancel')).toMatchObject({ callId: id, reason: 'run_timeout' });
    expect((await agent.ended(id)).outcome).toBe('timed_out');
  });

  it('continues a call of a foreign worker on a new connection', async () => {
    const worker = await ready();
    const { id } = await submit({ a: 1, b: 2 });
    const call = await worker.next('call');
    worker.close();
    const again = await ScriptedWorker.ready(gateway.url, WORK_KEY, `w${count}`, [ADD], 0);
    open.push(again);
    again.send({ op: 'renew', callIds: [id], fences: [call.fence] });
    again.finish(call, 'after a cut');
    await again.next('done');
    expect((await agent.ended(id)).result?.content).toMatchObject([{ text: expect.stringContaining('after a cut') }]);
  });

  it('continues a call of a foreign worker, its updates and its cancel at another gateway, under the same fence', async () => {
    const worker = await ready(ADD, 2);
    const other = await startTestGateway('foreign', OPTIONS);
    try {
      const calls = await Promise.all([1, 2].map(async (a) => (await submit({ a, b: 0 })).id));
      const frames = [await worker.next('call'), await worker.next('call')];
      const [ends, cancelled] = frames as [WorkerCall, WorkerCall];
      expect(calls).toContain(ends.callId);
      const text = (n: number) => [{ type: 'text' as const, text: `update ${n}` }];
      worker.send({ op: 'update', callId: ends.callId, fence: ends.fence, wseq: 1, content: text(1) });
      await eventually(async () => (await agent.events(ends.callId)).some(({ type }) => type === 'call.update'), 'the first update');
      worker.close();
      const again = await ScriptedWorker.ready(other.url, WORK_KEY, `w${count}`, [ADD], 0);
      open.push(again);
      again.send({ op: 'renew', callIds: frames.map(({ callId }) => callId), fences: frames.map(({ fence }) => fence) });
      again.send({ op: 'update', callId: ends.callId, fence: ends.fence, wseq: 2, content: text(2) });
      again.finish(ends, 'at the other gateway');
      expect(await again.next('done')).toMatchObject({ callId: ends.callId, fence: ends.fence });
      const call = await agent.ended(ends.callId);
      expect(call).toMatchObject({
        outcome: 'completed',
        result: { content: [{ text: expect.stringContaining('at the other gateway') }] },
      });
      const events = await agent.events(ends.callId);
      expect(events.filter(({ type }) => type === 'call.start')).toHaveLength(1);
      const updates = events.filter(({ type }) => type === 'call.update');
      expect(updates.map(({ data }) => data)).toMatchObject([
        { update: 1, content: text(1) },
        { update: 2, content: text(2) },
      ]);
      again.finish(ends, 'repeated');
      expect(await again.next('done')).toMatchObject({ callId: ends.callId });
      await agent.request('POST', `/v1/calls/${cancelled.callId}/cancel`, {});
      expect(await again.next('cancel')).toMatchObject({ callId: cancelled.callId, reason: 'cancelled' });
      again.send({ op: 'finish', callId: cancelled.callId, fence: cancelled.fence, wseq: 1, outcome: 'failed' });
      expect((await agent.ended(cancelled.callId)).outcome).toBe('cancelled');
    } finally {
      await other.close();
    }
  });

  it('hands calls over when the gateway stops, and accepts none from another key', async () => {
    const first = await startTestGateway('foreign', { ...OPTIONS, drainMs: 0 });
    let isStopped = false;
    try {
      const worker = await ScriptedWorker.ready(first.url, WORK_KEY, `w${++count}`, [ADD], 1);
      const { id } = (await first.agent.submit('add', { a: 1, b: 2 })).body;
      const call = await worker.next('call');
      isStopped = true;
      await first.close();
      expect((await eventually(() => worker.closed, 'the end of the connection')).code).toBe(1001);
      expect(worker.frames.map(({ op }) => op).filter((op) => op !== 'ping')).toEqual(['drain']);
      const [thief, again] = await Promise.all(
        [BOOTSTRAP_KEY, WORK_KEY].map((key) => ScriptedWorker.ready(gateway.url, key, `w${count}`, [ADD], 0)),
      );
      if (thief === undefined || again === undefined) throw new Error('not connected');
      open.push(thief, again);
      thief.finish(call, 'of another key');
      expect(await thief.next('stale')).toMatchObject({ callId: id });
      again.finish(call, 'handed over');
      expect(await again.next('done')).toMatchObject({ callId: id });
      expect((await agent.ended(id)).result?.content).toMatchObject([{ text: expect.stringContaining('handed over') }]);
    } finally {
      if (!isStopped) await first.close();
    }
  });

  it('suspends a call until its child ends, without a slot, and resumes it with its state', async () => {
    const worker = await ready(ADD, 1);
    const { id } = await submit({ a: 1, b: 2 });
    const call = await worker.next('call');
    const child = (await agent.request('POST', '/v1/calls', { tool: 'add', arguments: { a: 3, b: 4 }, parentCallId: id })).body.id;
    const state = { made: [child], step: 2 };
    const { callId, fence } = call;
    worker.send({ op: 'suspend', callId, fence, until: 'children', resumeInMs: 600_000, state });
    expect(await worker.next('done')).toMatchObject({ callId });
    worker.credit(1);
    const ofChild = await worker.next('call');
    expect(ofChild.callId).toBe(child);
    worker.send({ op: 'suspend', callId, fence, until: 'children' });
    expect(await worker.next('done')).toMatchObject({ callId });
    worker.credit(1);
    worker.finish(ofChild, '7');
    const again = await worker.next('call');
    expect(again).toMatchObject({ callId, attempt: 2, resumed: { reason: 'woken', state } });
    worker.send({ op: 'suspend', callId, fence, until: 'children' });
    expect(await worker.next('stale')).toMatchObject({ callId, fence });
    worker.finish(again, 'both');
    expect((await agent.ended(id)).result?.content).toMatchObject([{ text: expect.stringContaining('both') }]);
  });

  it('suspends a call until input, and passes the value to any connected worker', async () => {
    const worker = await ready(ADD, 1);
    const { id } = await submit({ a: 1, b: 2 });
    const { callId, fence } = await worker.next('call');
    const question = { prompt: 'Which number?', inputSchema: { type: 'integer' } };
    worker.send({ op: 'suspend', callId, fence, until: 'input', ...question, state: [1] });
    await worker.next('done');
    worker.close();
    const shown = await agent.get(`/v1/calls/${id}`);
    expect(shown.body).toMatchObject({ status: 'waiting_input', waiting: { input: question } });
    expect((await agent.request('POST', `/v1/calls/${id}/input`, { value: 'no number' })).status).toBe(422);
    expect((await agent.request('POST', `/v1/calls/${id}/input`, { value: 42 })).status).toBe(200);
    const again = await ScriptedWorker.ready(gateway.url, WORK_KEY, `w${count}`, [ADD], 1);
    open.push(again);
    const resumed = await again.next('call');
    expect(resumed).toMatchObject({ callId, attempt: 2, resumed: { reason: 'input', state: [1], input: 42 } });
    again.finish(resumed, 'thanks');
    expect((await agent.ended(id)).outcome).toBe('completed');
  });

  it('keeps a call running, cancellable and recoverable, while its foreign worker is disconnected', async () => {
    const worker = await ready();
    const { id } = await submit({ a: 1, b: 2 });
    await worker.next('call');
    worker.close();
    await eventually(async () => {
      const { body } = await agent.get(`/v1/calls/${id}`);
      return body.status === 'running' ? true : undefined;
    }, 'the call to be kept');
    await agent.request('POST', `/v1/calls/${id}/cancel`, { graceMs: 0 });
  });

  it('returns calls to the queue, or ends them as unknown, when a worker says bye', async () => {
    const worker = await ready();
    const { id } = await submit({ a: 1, b: 2 });
    await worker.next('call');
    worker.send({ op: 'bye' });
    expect((await agent.ended(id)).outcome).toBe('unknown');
  });

  it('answers hostile frames of a foreign worker with problems, and keeps serving it', async () => {
    const worker = await ready();
    worker.raw('{');
    expect((await worker.next('refused')).problem.code).toBe('malformed_json');
    for (const frame of [{ op: 'nothing' }, { op: 'credit', pool: 'net', n: -1 }, { op: 'credit', pool: 'net', n: 1e9 }, { op: 'hello' }]) {
      worker.send(frame);
      expect((await worker.next('refused')).problem.code).toBe('invalid_request');
    }
    const unknown = '01-01JZ8C5W3Q4X9R7T2M6K8N0P1V';
    worker.send({ op: 'finish', callId: unknown, fence: 1, wseq: 1, outcome: 'completed' });
    expect(await worker.next('stale')).toMatchObject({ callId: unknown });
    const { id } = await submit({ a: 1, b: 2 });
    const call = await worker.next('call');
    worker.finish({ callId: id, fence: call.fence + 1 }, 'of a wrong fence');
    expect(await worker.next('stale')).toMatchObject({ callId: id });
    worker.finish(call, '3');
    expect((await agent.ended(id)).result?.content).toMatchObject([{ text: expect.stringMatching(/3$/) }]);
  });

  it('refuses 10,000 tools, tools beyond the patterns of the key, and a giant frame', async () => {
    const many = await ScriptedWorker.open(gateway.url, WORK_KEY);
    many.hello(
      'many',
      Array.from({ length: 10_000 }, (_, n) => ({ name: `a${n}`, description: '', input: {} })),
    );
    expect((await many.next('refused')).problem.code).toBe('invalid_request');
    const beyond = await ScriptedWorker.open(gateway.url, WORK_KEY);
    beyond.hello('beyond', [{ ...ADD, name: 'shell' }]);
    expect((await beyond.next('refused')).problem).toMatchObject({ code: 'forbidden', detail: expect.stringContaining('shell') });
    const giant = await ready();
    giant.raw(JSON.stringify({ op: 'drain', filler: 'x'.repeat(1_100_000) }));
    await eventually(async () => giant.closed, 'the connection to be cut');
    expect(giant.closed?.code).toBe(1009);
  });

  it('redacts the output of a foreign worker', async () => {
    const worker = await ready();
    const { id } = await submit({ a: 1, b: 2 });
    worker.finish(await worker.next('call'), `the key is ghp_${'a1B2'.repeat(9)}`);
    expect(JSON.stringify((await agent.ended(id)).result)).toContain('[REDACTED]');
  });

  it('refuses a foreign worker with a key without the scope, and with another subprotocol', async () => {
    await expect(ScriptedWorker.open(gateway.url, 'no-such-key')).rejects.toThrow('401');
    await expect(ScriptedWorker.open(gateway.url, WORK_KEY, 'other.1')).rejects.toThrow('422');
    expect((await new Agent(gateway.url, WORK_KEY).get('/v1/calls')).status).toBe(403);
    expect((await agent.get('/v1/worker')).status).toBe(426);
  });
});
