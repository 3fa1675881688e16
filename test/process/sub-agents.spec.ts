import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call, CallPage, Problem, Source, SourcePage, ToolDescriptor } from '#contracts';
import { Agent } from '../support/agent.js';
import { startCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startModelServer, type ModelServer, type ScriptedToolCall } from '../support/model-server.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';
import { crewContract } from './sub-agents/crew.contract.js';
import { progressContract } from './sub-agents/progress.contract.js';
import { CONDUCTORS, spawnedContract } from './sub-agents/spawned.contract.js';

const API_KEY = 'sk-model-key-of-the-sub-agent-tests';
const GITHUB = 'ghp_1q2w3e4r5t6y7u8i9o0p1q2w3e4r5t6y7u8i';

let toolyard: TestCluster;
let models: ModelServer;
/** The only private host that sources of tenants may reach. */
let tenantModels: ModelServer;
let agent: Agent, other: Agent;
const OTHER_KEY = 'key-of-another-tenant';

/** Starts a worker that runs one sub-agent at a time; the model of a sub-agent has its name. */
beforeAll(async () => {
  [models, tenantModels] = await Promise.all([startModelServer(), startModelServer()]);
  const { host, origin } = new URL(tenantModels.url);
  const define = (name: string, more: object = {}, model: object = {}) => ({
    kind: 'agent',
    name,
    tier: 'read_only',
    system: `You are ${name}.`,
    model: { provider: 'openai-compatible', name, url: models.url, apiKey: { secretEnv: 'MODEL_KEY' }, ...model },
    ...more,
  });
  const sources = [
    define('helper', { tools: ['echo', 'sleep', 'shell'], description: 'Helps.' }),
    define('claude', { tools: ['@builtin/echo'] }, { provider: 'anthropic' }),
    define('thrifty', { tools: ['echo'], budgets: { tokens: 40, calls: 2 } }),
    define('short', { tools: ['echo'], maxTurns: 2 }),
    define('impatient', { tools: ['echo'], budgets: { modelMs: 300 } }),
    define('all', { tools: ['*'] }),
    define('explore', { type: 'explore' }),
    define('verification', { type: 'verification', tools: ['file_*', 'shell', 'agent', 'helper'], maxDepth: 2 }),
    define('boss', { tools: ['helper', 'claude', 'boss'], maxDepth: 2 }),
  ];
  const keys = [
    { id: 'other', tenant: 'other', sha256: createHash('sha256').update(OTHER_KEY).digest('hex'), scopes: ['submit', 'read', 'admin'] },
  ];
  const sourceRules = { secrets: [{ name: 'MODEL_KEY', tenants: ['default'], hosts: [origin] }] };
  const safety = { provenance: { trusted: [...sources.map(({ name }) => name), 'scout'] } };
  const agents = { planner: { tools: ['*', 'switch_to_execution'] }, ...CONDUCTORS };
  const config = { sources, safety, keys, sourceRules, agents };
  const env = { MODEL_KEY: API_KEY, WORKER_CONCURRENCY: 'agent=1', EGRESS_ALLOW_HOSTS: host };
  toolyard = await startTestCluster({ lists: true, env, config });
  agent = toolyard.agent;
  other = new Agent(agent.url, OTHER_KEY);
  const ready = async () => (await agent.get<SourcePage>('/v1/sources')).body.sources.every(({ status }) => status === 'ok');
  await eventually(ready, 'the sub-agents to be offered');
});
afterAll(async () => {
  await toolyard?.close();
  await models?.close();
  await tenantModels?.close();
});

const calls = (name: string, args: object | string = {}, id = 'a'): ScriptedToolCall[] => [{ id, name, arguments: args }];
const textOf = (call: Call) => call.result?.content.map((item) => (item.type === 'text' ? item.text : '')).join('');
const childrenOf = async ({ result }: Call) =>
  Promise.all((result?.childCallIds ?? []).map(async (id) => (await agent.get(`/v1/calls/${id}`)).body));
const turnsOf = async (callId: string) => (await agent.events(callId)).flatMap((event) => (event.type === 'call.turn' ? [event.data] : []));
/** Results of calls in the model's requests, by request. */
const resultsRead = (model: string, request: number): string[] =>
  models.calls(model)[request]?.body.messages.flatMap((it: { role: string; content: string }) => (it.role === 'tool' ? [it.content] : []));
const only = async (parentCallId: string) =>
  eventually(async () => {
    const { body } = await agent.get<CallPage>('/v1/calls?limit=200');
    return body.calls.find((call) => call.parentCallId === parentCallId);
  }, 'the call of the sub-agent');

describe('a sub-agent', () => {
  it('answers with the last text of the model of a sub-agent, after the calls that it made [TB-93, TS-40, TS-46]', async () => {
    models.on('helper', [{ text: 'Let me see.', toolCalls: calls('echo', { n: 1 }) }, { text: ['It is ', 'done.'] }]);
    const call = await agent.run('helper', { task: 'Do it' });
    expect(call).toMatchObject({ outcome: 'completed', result: { content: [{ type: 'text', text: 'It is done.' }], isError: false } });
    const children = await childrenOf(call);
    expect(children).toMatchObject([{ tool: 'echo', arguments: { n: 1 }, parentCallId: call.id, toolCallId: 'a', outcome: 'completed' }]);
    const [first, second] = models.calls('helper');
    expect(first?.body.messages).toEqual([
      { role: 'system', content: 'You are helper.' },
      { role: 'user', content: 'Do it' },
    ]);
    expect(first?.body.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
      'echo',
      'shell',
      'sleep',
      'summary',
    ]);
    expect(first?.headers.authorization).toBe(`Bearer ${API_KEY}`);
    expect(second?.body.messages.slice(2)).toMatchObject([
      { role: 'assistant', content: 'Let me see.' },
      { role: 'tool', tool_call_id: 'a', content: expect.stringContaining('"n"') },
    ]);
    models.on('helper', [{ text: '' }]);
    expect(textOf(await agent.run('helper', { task: 'Say nothing' }))).toBe('(sub-agent produced no text output)');
  });

  it('calls a sub-agent by its name with a task and a context, in the background too; only main agents do so [TB-92]', async () => {
    models.on('helper', [{ text: 'Found.' }]);
    const call = await agent.run('delegate', { agent: 'helper', prompt: 'Find it', context: 'It is blue' });
    expect(call).toMatchObject({ tool: 'agent', outcome: 'completed' });
    expect(textOf(call)).toBe('Found.');
    expect(await childrenOf(call)).toMatchObject([{ tool: 'helper', parentCallId: call.id, outcome: 'completed' }]);
    expect(models.calls('helper')[0]?.body.messages.at(-1)).toEqual({ role: 'user', content: '[Context]\nIt is blue\n\n[Task]\nFind it' });

    models.on('helper', [{ text: 'Later.' }]);
    const manifest = await agent.run('agent', { agent: 'helper', prompt: 'Dig', background: true });
    const [content] = manifest.result?.content ?? [];
    expect(content).toMatchObject({ json: { name: 'helper', status: 'running' } });
    expect(textOf(await agent.ended(manifest.result?.childCallIds?.[0] ?? ''))).toBe('Later.');

    expect((await agent.run('agent', { agent: 'stranger', prompt: 'x' })).error?.message).toMatch(
      /Unknown agent 'stranger'\. Available agents: .*helper/,
    );
    models.on('all', [{ toolCalls: calls('echo') }, { text: 'Done.' }]);
    await agent.run('agent', { agent: 'all', prompt: 'x' });
    const offered = models.calls('all')[0]?.body.tools.map((tool: { function: { name: string } }) => tool.function.name);
    expect(offered).toContain('todo_write');
    for (const name of ['agent', 'task_list', 'cron_add']) expect(offered).not.toContain(name);
  });

  it('offers a sub-agent the tool summary, whose result is its own; other agents lack it [TB-95, AV-08, EV-12]', async () => {
    const summed = { taskDescription: 'Dig', taskResult: 'A hole of 2 m' };
    models.on('helper', [{ toolCalls: calls('summary', summed) }, { text: 'I am done.' }]);
    const call = await agent.run('helper', { task: 'Dig' });
    expect(textOf(call)).toBe('A hole of 2 m');
    const shown = (await agent.events(call.id)).flatMap((it) => (it.type === 'call.update' ? it.data.content : []));
    expect(shown.filter(({ type }) => type === 'json')).toEqual([{ type: 'json', json: summed }]);
    expect((await agent.run('summary', summed)).error).toMatchObject({ code: 'policy_denied' });
    expect(JSON.stringify((await agent.get('/v1/tools?format=anthropic')).body)).not.toContain('"name":"summary"');
  });

  it('writes each turn of a sub-agent to its events once, before its calls are submitted', async () => {
    models.on('claude', [
      { text: `The token is ${GITHUB}`, toolCalls: calls('echo', { token: GITHUB }), usage: { input: 100, output: 20 } },
      { text: 'Done.' },
    ]);
    const call = await agent.run('claude', { task: 'Do it' });
    const events = await agent.events(call.id);
    const turns = await turnsOf(call.id);
    expect(turns).toEqual([
      {
        turn: 1,
        model: 'claude',
        requestSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        text: 'The token is [REDACTED]',
        toolCalls: [{ toolCallId: 'a', tool: 'echo' }],
        usage: { inputTokens: 100, outputTokens: 20 },
        tookMs: expect.any(Number),
      },
      expect.objectContaining({ turn: 2, text: 'Done.', toolCalls: [] }),
    ]);
    const [child] = await childrenOf(call);
    expect(child?.arguments).toEqual({ token: '[REDACTED]' });
    expect(Date.parse(events.find(({ type }) => type === 'call.turn')?.time ?? '')).toBeLessThanOrEqual(
      Date.parse(child?.submittedAt ?? ''),
    );
    for (const secret of [GITHUB, API_KEY]) expect(JSON.stringify(events)).not.toContain(secret);
  });

  it('streams text and calls of a sub-agent as updates, and turns as progress [TS-44]', async () => {
    models.on('helper', [{ text: 'First.', toolCalls: calls('echo') }, { text: 'Second.' }]);
    const { id } = await agent.run('helper', { task: 'Do it' });
    const events = await agent.events(id);
    const text = events
      .flatMap((event) => (event.type === 'call.update' ? event.data.content : []))
      .map((item) => (item.type === 'text' ? item.text : ''));
    expect(text.join('')).toContain('First.');
    expect(text.join('')).toContain('[sub-agent calling tool: echo]');
    expect(text.join('')).toContain('Second.');
    expect(events.flatMap((event) => (event.type === 'call.progress' ? [event.data] : []))).toContainEqual({
      message: 'turn 1 of at most 10',
      done: 0,
      total: 10,
    });
  });

  it('ends a sub-agent with its partial result after 10 turns, or at the budget of tokens or calls [TS-41]', async () => {
    models.on('helper', (_call, n) => ({ text: `turn ${n + 1}`, toolCalls: calls('echo') }));
    const long = await agent.run('helper', { task: 'Never stop' });
    expect(long).toMatchObject({
      outcome: 'completed',
      result: { isError: false, details: { turns: 10, calls: 9, stopped: 'max_turns' } },
    });
    expect(textOf(long)).toBe('turn 10');
    expect(models.calls('helper')).toHaveLength(10);
    models.on('thrifty', [{ text: 'Much', toolCalls: calls('echo'), usage: { input: 30, output: 10 } }]);
    expect(await agent.run('thrifty', { task: 'x' })).toMatchObject({
      outcome: 'completed',
      result: { details: { tokens: 40, stopped: 'max_tokens' } },
    });
    models.on('thrifty', [{ toolCalls: ['a', 'b', 'c'].flatMap((id) => calls('echo', {}, id)) }]);
    expect(await agent.run('thrifty', { task: 'x' })).toMatchObject({
      outcome: 'completed',
      result: { details: { calls: 0, stopped: 'max_calls' } },
    });
  });

  it('lets a sub-agent call another one within its depth, in the only slot of the pool, with both named [CC-31, TS-45, TS-48]', async () => {
    models.on('boss', [{ toolCalls: calls('helper', { task: 'Dig' }) }, { text: 'Dug.' }]);
    models.on('helper', [{ text: 'Digging', toolCalls: calls('echo') }, { text: 'A hole.' }]);
    const call = await agent.run('boss', { task: 'Make a hole' });
    expect(call).toMatchObject({ outcome: 'completed', result: { details: { childLoopId: call.id, turns: 2, tokens: 60, calls: 2 } } });
    const [child] = await childrenOf(call);
    expect(child?.result?.details).toMatchObject({ childLoopId: child?.id, parentLoopId: call.id, turns: 2 });
    expect(resultsRead('boss', 1)).toEqual(['A hole.']);
  });

  it('finds all events below a sub-agent from its End, each naming the call above [EV-06, EV-16]', async () => {
    models.on('boss', [{ toolCalls: calls('helper', { task: 'Dig' }) }, { text: 'Dug.' }]);
    models.on('helper', [{ toolCalls: calls('echo', {}, 'a').concat(calls('echo', {}, 'b')) }, { text: 'A hole.' }]);
    const { id } = await agent.run('boss', { task: 'Make a hole' });
    const below = async (callId: string): Promise<unknown[]> => {
      const events = await agent.events(callId);
      const end = events.at(-1);
      const children = end?.type === 'call.end' ? (end.data.result?.childCallIds ?? []) : [];
      for (const child of children)
        expect(new Set((await agent.events(child)).map(({ parentcallid }) => parentcallid))).toEqual(new Set([callId]));
      return [events[0]?.tool, ...(await Promise.all(children.map(below)))];
    };
    expect(await below(id)).toEqual(['boss', ['helper', ['echo'], ['echo']]]);
  });

  it('gives a sub-agent no sub-agents beyond its depth, not even by a forged call [TS-42, K-20]', async () => {
    let letGo = () => {};
    models.on('boss', [{ toolCalls: calls('boss', { task: 'Deeper' }) }, { text: 'Done.' }]);
    models.on('helper', [{ text: 'Busy', until: new Promise<void>((go) => (letGo = go)) }]);
    const { body: running } = await agent.submit('helper', { task: 'Be busy' });
    await eventually(() => models.calls('helper').length === 1, 'the model to be asked');
    expect(models.calls('helper')[0]?.body.tools.map((tool: { function: { name: string } }) => tool.function.name)).not.toContain('boss');
    const forged = await agent.request<Problem & { callId: string }>('POST', '/v1/calls', {
      tool: 'claude',
      arguments: { task: 'x' },
      parentCallId: running.id,
    });
    expect([forged.status, forged.body.code]).toEqual([403, 'policy_denied']);
    letGo();
    await agent.ended(running.id);
    // The inner one is offered no sub-agents: boss below boss is the last level.
    const call = await agent.run('boss', { task: 'x' });
    expect(call.outcome).toBe('completed');
    const inner = models.calls('boss').find(({ body }) => JSON.stringify(body.messages).includes('Deeper') && body.messages.length === 2);
    expect(inner?.body.tools).toMatchObject([{ function: { name: 'summary' } }]);
  });

  it('cancels a sub-agent with all that it called [EX-24, TS-43]', async () => {
    models.on('boss', [{ toolCalls: calls('helper', { task: 'Wait' }) }]);
    models.on('helper', [{ toolCalls: calls('shell', { command: 'echo begun; sleep 60' }) }]);
    const { body: top } = await agent.submit('boss', { task: 'x' });
    const middle = await only(top.id);
    const leaf = await only(middle.id);
    await eventually(async () => (await agent.get(`/v1/calls/${leaf.id}`)).body.status === 'running', 'the command to run');
    await agent.request('POST', `/v1/calls/${top.id}/cancel`, { reason: 'enough' });
    for (const { id } of [top, middle, leaf]) expect((await agent.ended(id)).outcome).toBe('cancelled');
  });

  it('limits a sub-agent to the rights of its call’s session: a reading session refuses commands [TS-47]', async () => {
    const posture = { autonomy: 'read_only', permissionMode: 'read-only' };
    await agent.request('PUT', '/v1/sessions/readers', { posture });
    models.on('helper', [{ toolCalls: calls('shell', { command: 'true' }) }, { text: 'I may not.' }]);
    const call = await agent.run('helper', { task: 'Run true' }, { sessionId: 'readers' });
    expect(textOf(call)).toBe('I may not.');
    expect(await childrenOf(call)).toMatchObject([{ tool: 'shell', outcome: 'denied', error: { code: 'policy_denied' } }]);
    expect(resultsRead('helper', 1)[0]).toContain('Denied by policy');
  });

  it('suspends a sub-agent while a person is asked about its call, and passes it a denial as an error', async () => {
    await agent.request('PUT', '/v1/sessions/asked', { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
    models.on('helper', [{ toolCalls: calls('shell', { command: 'true' }) }, { text: 'Denied.' }]);
    const { body: call } = await agent.submit('helper', { task: 'Run true' }, { sessionId: 'asked' });
    const child = await only(call.id);
    const waits = async () => (await agent.get(`/v1/calls/${call.id}`)).body.waiting?.reason === 'suspended';
    await eventually(waits, 'the sub-agent to be suspended');
    await agent.request('POST', `/v1/calls/${child.id}/decision`, { decision: 'deny', scope: 'once', reason: 'not today' });
    expect(textOf(await agent.ended(call.id))).toBe('Denied.');
    expect(resultsRead('helper', 1)[0]).toContain('not today');
  });

  it('reads messages of people to its session between turns', async () => {
    models.on('helper', async (_call, n) => {
      if (n > 0) return { text: 'Stopped.' };
      await agent.request('POST', '/v1/sessions/steered/steer', { message: 'Stop there' });
      return { toolCalls: calls('echo') };
    });
    const call = await agent.run('helper', { task: 'Go on' }, { sessionId: 'steered' });
    expect(models.calls('helper')[1]?.body.messages.at(-1)).toEqual({ role: 'user', content: 'Stop there' });
    expect((await turnsOf(call.id)).map(({ steering }) => steering)).toEqual([undefined, 1]);
  });

  it('answers a hostile model with readable errors, also for tools of others, within limits [AV-17]', async () => {
    const many = Array.from({ length: 1_000 }, (_unused, n) => ({ id: `n${n}`, name: 'no_such_tool', arguments: '{}' }));
    const wrong = [
      ...calls('claude', { task: 'x' }),
      ...calls('echo', '[1]', 'b'),
      ...calls('echo', {}, 'b'),
      ...calls('sleep', { duration_ms: 'x' }, 'c'),
    ];
    models.on('helper', [{ toolCalls: wrong }, { text: 'x'.repeat(1_000_000), toolCalls: many }, { text: 'Done.' }]);
    const call = await agent.run('helper', { task: 'Be evil' });
    expect(textOf(call)).toBe('Done.');
    expect(resultsRead('helper', 1)).toEqual([
      expect.stringContaining('tool `claude` is not enabled for this sub-agent. Available: echo, shell, sleep, summary.'),
      expect.stringContaining('Expected arguments as a JSON object'),
      expect.stringContaining('{}'),
      expect.stringContaining('duration_ms'),
    ]);
    expect(resultsRead('helper', 2)).toHaveLength(4 + 32);
    expect(models.calls('helper')[2]?.body.messages.at(-1).content).toBe(
      '968 further tool calls of the last turn did not run: at most 32 run in one turn.',
    );
    for (const event of await agent.events(call.id)) expect(JSON.stringify(event).length).toBeLessThan(12_000);
  });

  it('repeats the request to a busy model, and fails with a typed error if that is useless', async () => {
    models.on('helper', [{ status: 429, headers: { 'Retry-After': '0' } }, { text: 'Now.' }]);
    expect(textOf(await agent.run('helper', { task: 'x' }))).toBe('Now.');
    models.on('helper', [{ status: 401 }]);
    expect(await agent.run('helper', { task: 'x' })).toMatchObject({
      outcome: 'failed',
      error: { code: 'unavailable', retryable: false, message: expect.stringContaining('answered with HTTP 401') },
    });
    expect(models.calls('helper')).toHaveLength(1);
  });
});

for (const contract of [crewContract, progressContract, spawnedContract]) contract(() => ({ agent, models }));

describe('a sub-agent that a key adds for its tenant', () => {
  const define = (more: object = {}, model: object = {}) => ({
    kind: 'agent',
    name: 'scout',
    tools: ['echo'],
    model: { provider: 'openai-compatible', name: 'scout', url: tenantModels.url, apiKey: { secretEnv: 'MODEL_KEY' }, ...model },
    ...more,
  });
  const add = (more: object = {}, model: object = {}, by = agent) => by.request<Problem>('POST', '/v1/sources', define(more, model));
  const isReady = (source: string) =>
    eventually(async () => (await agent.get<Source>(`/v1/sources/${source}`)).body.status === 'ok', `${source} to be offered`);
  const toolsOf = async (by: Agent) => (await by.get<{ tools: ToolDescriptor[] }>('/v1/tools')).body.tools;

  it('lists, runs with its model, changes and removes a sub-agent of a tenant, over HTTP and on the command line', async () => {
    const { code, err } = await startCli(['sources', 'add', JSON.stringify(define({ description: 'Scouts.' }))], {
      url: agent.url,
    }).ended();
    expect([code, err]).toEqual([0, expect.stringContaining('The source scout was added')]);
    await isReady('scout');
    expect(await agent.get<Source>('/v1/sources/scout')).toMatchObject({
      body: { kind: 'agent', origin: 'api', tools: 1, pending: 0, definition: { model: { apiKey: { secretEnv: 'MODEL_KEY' } } } },
    });
    expect((await toolsOf(agent)).find(({ name }) => name === 'scout')).toMatchObject({
      source: 'scout',
      description: 'Scouts.',
      tier: 'privileged',
      pool: 'agent',
      effect: 'keyed',
    });
    tenantModels.on('scout', [{ toolCalls: calls('echo', { n: 7 }) }, { text: 'Seen.' }]);
    const call = await agent.run('scout', { task: 'Look' });
    expect([call.outcome, textOf(call)]).toEqual(['completed', 'Seen.']);
    expect(await childrenOf(call)).toMatchObject([{ tool: 'echo', arguments: { n: 7 } }]);
    expect(tenantModels.calls('scout')[0]?.headers.authorization).toBe(`Bearer ${API_KEY}`);

    expect((await add({ description: 'Scouts far.' }, { name: 'far-scout' })).status).toBe(201);
    await eventually(
      async () => (await toolsOf(agent)).find(({ name }) => name === 'scout')?.description === 'Scouts far.',
      'the change to be offered',
    );
    tenantModels.on('far-scout', [{ text: 'Seen from afar.' }]);
    expect(textOf(await agent.run('scout', { task: 'Look' }))).toBe('Seen from afar.');

    expect((await agent.request('DELETE', '/v1/sources/scout')).status).toBe(204);
    await eventually(async () => !(await toolsOf(agent)).some(({ name }) => name === 'scout'), 'the sub-agent to be gone');
    expect((await agent.submit('scout', { task: 'x' })).status).toBe(404);
  });

  it('hides a sub-agent of a tenant from others, which may have one of the same name', async () => {
    await add();
    await isReady('scout');
    expect((await other.get<SourcePage>('/v1/sources')).body.sources).toEqual([]);
    expect([(await other.get('/v1/sources/scout')).status, (await other.request('DELETE', '/v1/sources/scout')).status]).toEqual([
      404, 404,
    ]);
    expect((await toolsOf(other)).map(({ source }) => source)).not.toContain('scout');
    expect((await other.submit('scout', { task: 'x' })).status).toBe(404);
    expect((await add({}, { name: 'their-scout', apiKey: undefined }, other)).status).toBe(201);
    tenantModels.on('their-scout', [{ text: 'Theirs.' }]);
    await eventually(async () => (await toolsOf(other)).some(({ name }) => name === 'scout'), 'their sub-agent');
    expect(textOf(await other.run('scout', { task: 'x' }))).toContain('Theirs.');
    expect(tenantModels.calls('their-scout')[0]?.headers.authorization).toBeUndefined();
  });

  it("prevents a tenant's sub-agent from reaching private hosts, sending forbidden secrets, and widening any rule", async () => {
    const refused = async (more: object, model: object, by = agent) => {
      const { status, body } = await add({ name: 'rogue', ...more }, model, by);
      return `${status} ${body.detail}`;
    };
    expect(await refused({}, { url: 'http://169.254.169.254/v1', apiKey: undefined })).toMatch(/^403 Blocked: 169\.254\.169\.254/);
    expect(await refused({}, { url: models.url, apiKey: undefined })).toMatch(/^403 Blocked: /);
    expect(await refused({}, { url: 'https://models.example.com/v1' })).toMatch(/^403 .*MODEL_KEY be sent to models\.example\.com/);
    expect(await refused({}, { apiKey: { secretEnv: 'REDIS_URL' } })).toMatch(/^403 .*secret REDIS_URL/);
    expect(await refused({}, {}, other)).toMatch(/^403 .*the tenant other use the secret MODEL_KEY/);
    expect(await refused({ tier: 'read_only' }, {})).toMatch(/^403 .*`tier` is for sub-agents of the config file/);
    expect(await refused({ name: 'helper' }, {})).toMatch(/^409 The name helper belongs to a source of the config file/);
    for (const tools of [['rogue'], ['echo', '@helper/helper']])
      expect(await refused({ tools }, {})).toMatch(/^422 .*expected no sub-agent among the tools of the sub-agent rogue/);
    expect((await agent.get('/v1/sources/rogue')).status).toBe(404);
  });

  it('fails a sub-agent that is removed while it waits for its calls, and makes no others', async () => {
    await add({ name: 'leaver', tools: ['sleep'] }, { name: 'leaver' });
    await isReady('leaver');
    tenantModels.on('leaver', [{ toolCalls: calls('sleep', { duration_ms: 60_000 }) }]);
    const { body: call } = await agent.submit('leaver', { task: 'Wait' });
    const child = await only(call.id);
    await agent.request('DELETE', '/v1/sources/leaver');
    await eventually(async () => (await agent.submit('leaver', { task: 'x' })).status === 404, 'the sub-agent to be gone');
    await agent.request('POST', `/v1/calls/${child.id}/cancel`, {});
    // Message from its worker or the gateway, depending on the first to be asked.
    expect((await agent.ended(call.id)).error?.message).toMatch(/^(?:The sub-agent leaver is not defined any more|Tool not found: leaver)/);
    expect(tenantModels.calls('leaver')).toHaveLength(1);
  });
});
