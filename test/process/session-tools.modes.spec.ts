import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call, Quote, Schedule, Session, ToolDescriptor } from '#contracts';
import { Agent, type Stream } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const GITHUB = 'ghp_1q2w3e4r5t6y7u8i9o0p1q2w3e4r5t6y7u8i';

let toolyard: TestCluster;
let agent: Agent;

/** The tools of agents that get few of them at first. */
const CORE = ['file_edit', 'file_read', 'file_write', 'shell', 'tool_search'];
const DEFERRED = ['file_patch', 'glob', 'http_request', 'notebook_edit', 'web_fetch', 'web_search'];
const folder = mkdtempSync(join(tmpdir(), 'toolyard-session-tools-'));
const CONFIG = {
  skills: [
    { folder: join(folder, 'own'), agents: ['reader'] },
    { folder: join(folder, 'skills') },
    { folder: '/nowhere', tenant: 'other' },
  ],
  agents: {
    lean: { tools: [...CORE, ...DEFERRED], policy: { deferredTools: DEFERRED } },
    reader: { posture: { autonomy: 'full', permissionMode: 'read-only' } },
    writer: { posture: { autonomy: 'full', permissionMode: 'danger-full-access' } },
  },
};

const keepSkill = (root: string, name: string, text: string) => {
  mkdirSync(join(folder, root, name), { recursive: true });
  writeFileSync(join(folder, root, name, 'SKILL.md'), text);
};

beforeAll(async () => {
  const config = join(folder, 'toolyard.json');
  writeFileSync(config, JSON.stringify(CONFIG));
  toolyard = await startTestCluster({ gateways: 2, workers: 2, env: { TOOLYARD_CONFIG: config } });
  agent = new Agent(toolyard.gateways[0]?.url ?? '');
});
afterAll(async () => {
  await toolyard?.close();
  rmSync(folder, { recursive: true });
});

const jsonOf = ({ result, error }: Call): unknown => {
  const [first] = result?.content ?? [];
  return first?.type === 'json' ? first.json : (error ?? first);
};
const run = async (tool: string, args: object, sessionId: string) => jsonOf(await agent.run(tool, args, { sessionId }));
const session = async (id: string) => (await agent.get<Session>(`/v1/sessions/${id}`)).body;
const todo = (content: string, status: string) => ({ content, activeForm: `${content}...`, status });

const notices = async (sessionId: string, types: string[]): Promise<Stream> => {
  const stream = await new Agent(toolyard.gateways[1]?.url ?? '').stream();
  stream.send({ op: 'subscribe', id: 'w', filter: { types, sessionId } });
  await stream.frame('subscribed', 'w');
  return stream;
};

describe('skill', () => {
  const REVIEW = '---\nname: review\ndescription: How to review\nallowed-tools: shell\n---\n# Review\nRun `!rm -rf /` and {{args}}\n';
  beforeAll(() => {
    keepSkill('skills', 'review', REVIEW);
    keepSkill('skills', 'broken', '---\n"\n---\n\n# Broken header\n');
    keepSkill('skills', 'huge', 'x'.repeat(131_073));
    keepSkill('skills', 'escape', '');
    rmSync(join(folder, 'skills', 'escape', 'SKILL.md'));
    writeFileSync(join(folder, 'secret.md'), 'secret');
    symlinkSync(join(folder, 'secret.md'), join(folder, 'skills', 'escape', 'SKILL.md'));
    symlinkSync(join(folder, 'skills', 'review'), join(folder, 'skills', 'linked'));
    keepSkill('own', 'Review', '# Of readers only\n');
  });

  it('loads the text of a skill by its name in any case, and runs nothing of it [TB-115]', async () => {
    expect(await run('Skill', { skill: '$REVIEW', args: '$& the last commit' }, 'skills')).toEqual({
      skill: 'review',
      path: 'review/SKILL.md',
      args: '$& the last commit',
      description: 'How to review',
      prompt: '# Review\nRun `!rm -rf /` and {{args}}',
    });
    expect(await run('skill', { skill: '/broken' }, 'skills')).toMatchObject({ description: 'Broken header' });
    const { body } = await agent.submit('skill', { skill: 'review' }, { agentId: 'reader' });
    expect(jsonOf(await agent.ended(body.id))).toMatchObject({ description: 'Of readers only' });
    const spoken = await agent.run('Skill', { skill: 'review' }, { dialect: 'claude-code' });
    expect(spoken.result?.content[0]).toEqual({ type: 'text', text: expect.stringMatching(/^\{"skill":"review",.*"prompt":"# Review/) });
  });

  it('lists to models the skills that they have, and refuses others, large files and links out of the folder [TB-115]', async () => {
    const choices = async (query: string) => {
      const { body } = await agent.get<{ tools: ToolDescriptor[] }>(`/v1/tools?${query}`);
      return body.tools.find(({ name }) => /^skill$/i.test(name));
    };
    const schema = (names: string[]) => ({ available: { ok: true }, input: { properties: { skill: { enum: names } } } });
    expect(await choices('')).toMatchObject(schema(['broken', 'review']));
    expect(await choices('dialect=claude-code')).toMatchObject(schema(['broken', 'review']));
    for (const skill of ['nope', '../secret', 'review/../../secret', 'linked', '..'])
      expect(await run('skill', { skill }, 'skills')).toMatchObject({
        code: 'tool_failed',
        message: `unknown skill: ${skill}. Skills: broken, review`,
      });
    expect(await run('skill', { skill: 'huge' }, 'skills')).toMatchObject({ message: expect.stringContaining('larger than 131072 bytes') });
    expect(await run('skill', { skill: 'escape' }, 'skills')).toMatchObject({ message: expect.stringContaining('outside its folder') });
    expect(await run('skill', { skill: '$ ' }, 'skills')).toMatchObject({ code: 'invalid_arguments', message: 'skill must not be empty' });
  });
});

describe('todo_write', () => {
  it('replaces the list of the session for all its readers, and clears it when all is done [TB-113]', async () => {
    const first = [todo('Build', 'in_progress'), todo('Ship', 'pending')];
    expect(await run('todo_write', { todos: first }, 'todos')).toEqual({ oldTodos: [], newTodos: first });
    expect((await session('todos')).todos).toEqual(first);
    const done = ['Build', 'Ship', 'Tell'].map((content) => todo(content, 'completed'));
    expect(await run('todo_write', { todos: done }, 'todos')).toEqual({ oldTodos: first, newTodos: done, verificationNudgeNeeded: true });
    expect((await session('todos')).todos).toEqual([]);
    const verified = [...done.slice(1), todo('Verify', 'completed')];
    expect(await run('todo_write', { todos: verified }, 'todos')).toEqual({ oldTodos: [], newTodos: verified });
    await agent.request('DELETE', '/v1/sessions/todos');
    expect((await session('todos')).todos).toBeUndefined();
  });

  it('refuses inconsistent todo lists and calls without a session, and stores no secrets', async () => {
    const refused = (todos: object[]) => run('todo_write', { todos }, 'refused');
    expect(await refused([])).toMatchObject({ code: 'invalid_arguments', message: expect.stringContaining('todos must not be empty') });
    expect(await refused([todo(' ', 'pending')])).toMatchObject({ message: expect.stringContaining('todo content must not be empty') });
    expect(await refused([{ ...todo('x', 'pending'), activeForm: '' }])).toMatchObject({
      message: expect.stringContaining('todo activeForm must not be empty'),
    });
    expect(await refused([todo('a', 'in_progress'), todo('b', 'in_progress')])).toMatchObject({
      message: expect.stringContaining('at most one todo may be in_progress, received 2'),
    });
    expect(jsonOf(await agent.run('todo_write', { todos: [todo('a', 'pending')] }))).toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining('sessionId'),
    });
    await run('todo_write', { todos: [todo(`Use ${GITHUB}`, 'pending')] }, 'refused');
    expect((await session('refused')).todos?.[0]?.content).toBe('Use [REDACTED]');
  });
});

describe('task_list', () => {
  it('creates, completes, adds and removes tasks, and answers the list each time [TB-114]', async () => {
    const tasks = (args: object) => run('task_list', args, 'tasks');
    const created = await tasks({
      command: 'create',
      task_list_description: 'Release',
      tasks: [{ task_description: 'Test' }, { task_description: 'Ship', details: 'at noon' }],
    });
    expect(created).toMatchObject({
      description: 'Release',
      tasks: [
        { id: '1', completed: false },
        { id: '2', details: 'at noon' },
      ],
    });
    const completed = await tasks({ command: 'complete', completed_task_ids: ['1'], context_update: 'Green', modified_files: ['a.ts'] });
    expect(completed).toMatchObject({ tasks: [{ completed: true }, { completed: false }], context: ['Green'], modified_files: ['a.ts'] });
    await tasks({ command: 'add', new_tasks: [{ task_description: 'Tell' }], new_description: 'Release 2' });
    const left = await tasks({ command: 'remove', remove_task_ids: ['2'] });
    expect(left).toMatchObject({ description: 'Release 2', tasks: [{ id: '1' }, { id: '3', task_description: 'Tell' }] });
    expect(await tasks({ command: 'list' })).toEqual(left);
    expect((await session('tasks')).taskList).toMatchObject({ description: 'Release 2', modifiedFiles: ['a.ts'] });

    expect(await tasks({ command: 'create', tasks: [] })).toMatchObject({ message: expect.stringContaining('No tasks were provided') });
    expect(await tasks({ command: 'complete', completed_task_ids: ['1'] })).toMatchObject({
      message: expect.stringContaining('No context update was provided'),
    });
    expect(await tasks({ command: 'remove', remove_task_ids: ['9'] })).toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining('has no task "9"; its tasks are: 1, 3'),
    });
  });

  it('applies all of many concurrent changes of a task list, over several workers and gateways', async () => {
    const names = Array.from({ length: 12 }, (_unused, index) => `task ${index}`);
    await Promise.all(names.map((name) => run('task_list', { command: 'add', new_tasks: [{ task_description: name }] }, 'parallel')));
    const { taskList } = await session('parallel');
    expect(taskList?.tasks.map(({ description }) => description).sort()).toEqual([...names].sort());
    expect(new Set(taskList?.tasks.map(({ id }) => id)).size).toBe(names.length);
  });

  it('limits the task list of a session', async () => {
    const details = 'x'.repeat(4_000);
    const many = (count: number) => Array.from({ length: count }, () => ({ task_description: 'Much', details }));
    await run('task_list', { command: 'create', task_list_description: '', tasks: many(60) }, 'bound');
    expect(await run('task_list', { command: 'add', new_tasks: many(10) }, 'bound')).toMatchObject({ code: 'quota_exceeded' });
    expect((await session('bound')).taskList?.tasks).toHaveLength(60);
  });
});

describe('config', () => {
  const config = (args: object, sessionId = 'settings') => run('config', args, sessionId);

  it('reads and changes the settings of a session by their names and types [TB-118]', async () => {
    const stream = await notices('settings', ['session.data']);
    expect(await config({ setting: 'verbose' })).toEqual({ success: true, operation: 'get', setting: 'verbose', value: null });
    expect(await config({ setting: 'verbose', value: 'true' })).toMatchObject({ success: true, previousValue: null, newValue: true });
    expect(await config({ setting: 'editorMode', value: 'vim' })).toMatchObject({ success: true, operation: 'set' });
    expect((await session('settings')).settings).toEqual({ verbose: true, editorMode: 'vim' });
    expect(await config({ setting: 'verbose', value: 'yes' })).toMatchObject({ success: false, error: 'setting requires true or false' });
    expect(await config({ setting: 'editorMode', value: 'ed' })).toMatchObject({ error: 'setting requires one of default, vim, emacs' });
    const unknown = await agent.run('config', { setting: 'sudo', value: true }, { sessionId: 'settings' });
    expect(unknown).toMatchObject({ outcome: 'completed', result: { isError: true } });
    const settings: unknown = expect.arrayContaining(['theme', 'verbose', 'permissions.defaultMode']);
    expect(jsonOf(unknown)).toMatchObject({ success: false, error: 'Unknown setting: "sudo"', settings });
    expect(await config({ setting: 'verbos' })).toMatchObject({ success: false, operation: 'get', settings });
    await eventually(() => stream.notices('w').length === 2, 'the notices of both changes');
    expect(stream.notices('w')).toMatchObject([{ data: { changed: ['settings'] } }, { data: { changed: ['settings'] } }]);
    stream.close();
  });

  it('asks a person about the permission mode, and makes it stricter, never looser [TB-118]', async () => {
    const setting = 'permissions.defaultMode';
    await agent.request('PUT', '/v1/sessions/modes', { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
    const { body: asked } = await agent.submit('config', { setting, value: 'plan' }, { sessionId: 'modes' });
    expect(asked.status).toBe('waiting_approval');
    await agent.request('POST', `/v1/calls/${asked.id}/decision`, { decision: 'allow' });
    expect(jsonOf(await agent.ended(asked.id))).toMatchObject({ success: true, newValue: 'plan' });
    expect((await session('modes')).posture.permissionMode).toBe('read-only');
    await agent.request('PUT', '/v1/sessions/modes', { posture: { autonomy: 'full', permissionMode: 'danger-full-access' } });
    for (const value of ['auto', 'dontAsk']) expect(await config({ setting, value }, 'modes')).toMatchObject({ code: 'policy_denied' });
    expect((await session('modes')).posture.permissionMode).toBe('danger-full-access');
  });

  it('leaves other agents of the session the stricter mode that they have', async () => {
    const setting = 'permissions.defaultMode';
    const as = (agentId: string) => ({ sessionId: 'two-agents', agentId });
    const write = async (agentId: string) => {
      const call = { tool: 'file_write', arguments: { path: 'a', content: 'b' }, ...as(agentId) };
      return (await agent.request<Quote>('POST', '/v1/calls:quote', call)).body.decision?.effect;
    };
    const choose = async (value: string) => {
      const { body: asked } = await agent.submit('config', { setting, value }, as('writer'));
      await agent.request('POST', `/v1/calls/${asked.id}/decision`, { decision: 'allow' });
      return jsonOf(await agent.ended(asked.id));
    };
    expect(await choose('acceptEdits')).toMatchObject({ success: true });
    expect([await write('writer'), await write('reader')]).toEqual(['allow', 'deny']);
    expect(await choose('plan')).toMatchObject({ success: true });
    expect([await write('writer'), await write('reader')]).toEqual(['deny', 'deny']);
  });
});

describe('structured_output', () => {
  it('returns structured output as the given object, which must match the schema of the session [TB-99]', async () => {
    const answer = { city: 'Berlin', facts: [{ degrees: 21 }] };
    const echoed = { data: 'Structured output provided successfully', structured_output: answer };
    expect(jsonOf(await agent.run('structured_output', answer))).toEqual(echoed);
    const outputSchema = { type: 'object', required: ['city'], properties: { city: { type: 'string' } } };
    expect((await agent.request('PUT', '/v1/sessions/answers', { outputSchema })).status).toBe(200);
    expect(await run('structured_output', answer, 'answers')).toEqual(echoed);
    expect(await run('structured_output', { city: 7 }, 'answers')).toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining('/city'),
      errors: [{ pointer: '/city' }],
    });
    await agent.request('PUT', '/v1/sessions/answers', { outputSchema: null });
    expect(await run('structured_output', { city: 7 }, 'answers')).toMatchObject({ structured_output: { city: 7 } });
  });
});

describe('send_user_message', () => {
  it('sends a message of send_user_message to all watchers of the session, with its attachments [TB-98]', async () => {
    const stream = await notices('messages', ['session.message']);
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');
    await agent.run('shell', { command: `echo ${png} | base64 -d > plot.png; echo hello > notes.txt` }, { sessionId: 'messages' });
    const attachments = [
      { path: 'plot.png', size: 16, isImage: true },
      { path: 'notes.txt', size: 6, isImage: false },
    ];
    const sent = await run(
      'send_user_message',
      { message: `Done, ${GITHUB}`, status: 'proactive', attachments: ['plot.png', 'notes.txt'] },
      'messages',
    );
    expect(sent).toEqual({ message: 'Done, [REDACTED]', attachments, sentAt: expect.any(String) });
    await eventually(() => stream.notices('w').length === 1, 'the message to come');
    expect(stream.notices('w')).toMatchObject([
      { subject: 'session/messages', data: { message: 'Done, [REDACTED]', status: 'proactive', attachments } },
    ]);
    stream.close();
    expect(await run('send_user_message', { message: ' ', status: 'normal' }, 'messages')).toMatchObject({
      message: expect.stringContaining('message must not be empty'),
    });
    const outside = await run('send_user_message', { message: 'x', status: 'normal', attachments: ['/etc/passwd'] }, 'messages');
    expect(outside).toMatchObject({ code: expect.stringMatching(/policy_denied|tool_failed|invalid_arguments/) });
  });
});

describe('tool_search', () => {
  const MCP = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
  const inSession = (sessionId: string) => ({ sessionId, agentId: 'lean' });
  const search = async (args: object, sessionId: string) => jsonOf(await agent.run('tool_search', args, inSession(sessionId)));
  const listed = async (sessionId?: string, format = 'anthropic') => {
    const of = sessionId === undefined ? '' : `&sessionId=${sessionId}`;
    const { body } = await agent.get<{ tools: ToolDescriptor[] }>(`/v1/tools?format=${format}&agentId=lean${of}`);
    return body.tools;
  };
  const names = async (sessionId?: string) => (await listed(sessionId)).map(({ name }) => name);
  const overMcp = async (sessionId: string) => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'lean', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.toolyard/sessionId': sessionId,
      'io.toolyard/agentId': 'lean',
    };
    const ask = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } };
    const { body } = await agent.request<{ result: { tools: ToolDescriptor[] } }>('POST', '/mcp', ask, MCP);
    return body.result.tools.map(({ name }) => name).filter((name) => [...CORE, ...DEFERRED].includes(name));
  };

  it('finds deferred tools, which models see in that session from then on [TB-117]', async () => {
    expect(await names()).toEqual(CORE);
    expect(await names('searching')).toEqual(CORE);
    expect(await overMcp('searching')).toEqual(CORE);
    expect(await search({ query: 'select:web_fetch' }, 'searching')).toMatchObject({ matches: ['web_fetch'] });
    const found = [...CORE, 'web_fetch'].sort();
    expect(await names('searching')).toEqual(found);
    expect(await overMcp('searching')).toEqual(found);
    expect(await names('elsewhere')).toEqual(CORE);
    expect((await session('searching')).foundTools).toEqual(['web_fetch']);
    const all = await listed('searching', 'full');
    expect(all.filter(({ deferred }) => deferred === true).map(({ name }) => name)).toEqual(
      DEFERRED.filter((name) => name !== 'web_fetch'),
    );
  });

  it('picks by name and ranks by words [TB-116]', async () => {
    expect(await search({ query: 'select:WebFetch, glob,unknown' }, 'ranked')).toMatchObject({ matches: ['web_fetch', 'glob'] });
    expect(await search({ query: '  Notebook ' }, 'ranked')).toMatchObject({
      matches: expect.arrayContaining(['notebook_edit']),
      normalized_query: 'notebook',
      total_deferred_tools: DEFERRED.length,
    });
    expect(await search({ query: 'notebook', max_results: 1 }, 'ranked')).toMatchObject({ matches: ['notebook_edit'] });
    expect(await search({ query: 'search web', max_results: 1 }, 'ranked')).toMatchObject({ matches: ['web_search'] });
    expect(await search({ query: 'web +fetch', max_results: 1 }, 'ranked')).toMatchObject({ matches: ['web_fetch'] });
    expect(await search({ query: '+quantum web' }, 'ranked')).toMatchObject({ matches: [] });
    expect(await search({ query: ' ' }, 'ranked')).toMatchObject({ code: 'invalid_arguments' });
  });

  it('changes no rights: a deferred tool can be called, and one that the agent does not have is not found', async () => {
    expect(await agent.run('glob', { pattern: '*' }, inSession('calling'))).toMatchObject({ outcome: 'completed' });
    expect(await search({ query: 'select:todo_write,echo' }, 'calling')).toMatchObject({ matches: [] });
  });
});

describe('schedules by tools', () => {
  const add = (args: object, sessionId: string) => run('cron_add', args, sessionId);
  const every = { kind: 'every', every_ms: 1_000 };
  const lastRun = async (id: string) => (await agent.get<Schedule>(`/v1/schedules/${id}`)).body.lastRun;

  it('runs calls of a schedule made by a tool in its session until it is removed [K-22, TB-111, TB-112]', async () => {
    const added = (await add({ schedule: every, name: 'tick', tool: 'echo', arguments: { n: 1 } }, 'planned')) as { id: string };
    expect(added).toMatchObject({ name: 'tick', job_type: 'tool', schedule: every, next_run: expect.any(String), enabled: true });
    expect(await run('cron_list', {}, 'planned')).toMatchObject([{ id: added.id }]);
    expect(await run('cron_list', {}, 'elsewhere')).toEqual([]);
    const callId = await eventually(async () => (await lastRun(added.id))?.callId, 'a run');
    expect(await agent.ended(callId)).toMatchObject({ tool: 'echo', sessionId: 'planned', scheduleId: added.id, outcome: 'completed' });
    expect(await run('cron_remove', { job_id: added.id }, 'elsewhere')).toMatchObject({ code: 'tool_failed' });
    expect(await run('cron_remove', { job_id: added.id }, 'planned')).toMatchObject({ text: `Removed cron job ${added.id}` });
    expect(await run('cron_list', {}, 'planned')).toEqual([]);
    expect((await agent.get(`/v1/schedules/${added.id}`)).status).toBe(404);
  });

  it('gives a schedule created by a tool the rights of a call of the session at that time', async () => {
    const added = (await add({ schedule: every, command: 'echo scheduled' }, 'narrowed')) as { id: string };
    expect(added).toMatchObject({ job_type: 'shell' });
    await agent.request('PUT', '/v1/sessions/narrowed', { tools: ['cron_*'] });
    const refused = await eventually(async () => {
      const last = await lastRun(added.id);
      return last?.error === undefined ? undefined : last;
    }, 'a run that is refused');
    expect(refused.error?.code).toBe('policy_denied');
    expect(await add({ schedule: every, command: 'echo again' }, 'narrowed')).toMatchObject({ code: 'policy_denied' });
    await run('cron_remove', { job_id: added.id }, 'narrowed');
  });

  it('hides schedules of one user from another of the same key', async () => {
    const as = (userId: string) => ({ sessionId: 'shared-plans', userId });
    const args = { schedule: { kind: 'cron', expr: '0 7 1 1 *' }, tool: 'echo' };
    const added = jsonOf(await agent.run('cron_add', args, as('alice'))) as { id: string };
    expect(jsonOf(await agent.run('cron_list', {}, as('bob')))).toEqual([]);
    const removed = await agent.run('cron_remove', { job_id: added.id }, as('bob'));
    expect(jsonOf(removed)).toMatchObject({ message: expect.stringContaining('no cron job') });
    expect(jsonOf(await agent.run('cron_list', {}, as('alice')))).toMatchObject([{ id: added.id }]);
  });

  it('checks schedules created by tools under the canonical tool names, for any dialect of the session', async () => {
    await agent.request('PUT', '/v1/sessions/spoken-plans', { dialect: 'oxydra' });
    const of = { sessionId: 'spoken-plans', dialect: 'core' };
    const schedule = { kind: 'cron', expr: '0 7 1 1 *' };
    const planned = { tool: 'file_edit', arguments: { path: 'a', edits: [{ old_text: 'a', new_text: 'b' }] } };
    expect(jsonOf(await agent.run('cron_add', { schedule, ...planned }, of))).toMatchObject({ tool: 'file_edit' });
    const made = await agent.request('POST', '/v1/schedules', { cron: '0 7 1 1 *', call: { ...planned, sessionId: 'spoken-plans' } });
    expect(made).toMatchObject({ status: 201, body: { call: { tool: 'file_edit' } } });
  });

  it('refuses a wrong schedule of a tool with its fault', async () => {
    const message = (text: string) => ({ code: 'invalid_arguments', message: expect.stringContaining(text) });
    expect(await add({ schedule: every }, 'wrong')).toMatchObject(message("Missing 'command'"));
    expect(await add({ schedule: every, agent: 'helper' }, 'wrong')).toMatchObject(message("Missing 'prompt' for agent job"));
    expect(await add({ schedule: { kind: 'every', every_ms: 10 }, command: 'ls' }, 'wrong')).toMatchObject(message('Invalid schedule'));
    expect(await add({ schedule: { kind: 'cron', expr: 'daily' }, command: 'ls' }, 'wrong')).toMatchObject(message('cron expression'));
    expect(await add({ schedule: every, tool: 'no_such_tool' }, 'wrong')).toMatchObject(message('no_such_tool'));
  });

  it.each([
    ['/schedule/expr', { schedule: { kind: 'cron', expr: 'every day' }, command: 'ls' }],
    ['/schedule/tz', { schedule: { kind: 'cron', expr: '0 7 * * *', tz: 'Europe/Berln' }, command: 'ls' }],
    ['/schedule/at', { schedule: { kind: 'at', at: '2001-01-01T00:00:00Z' }, command: 'ls' }],
    ['/schedule/at', { schedule: { kind: 'at', at: 'tomorrow' }, command: 'ls' }],
    ['/schedule/every_ms', { schedule: { kind: 'every', every_ms: 10 }, command: 'ls' }],
    ['/schedule/every_ms', { schedule: { kind: 'every' }, command: 'ls' }],
    ['/schedule/expr', { schedule: { kind: 'cron' }, command: 'ls' }],
    ['/tool', { schedule: { kind: 'every', every_ms: 60_000 }, tool: 'no_such_tool' }],
    ['/arguments/pth', { schedule: { kind: 'every', every_ms: 60_000 }, tool: 'file_read', arguments: { pth: 'a' } }],
  ])('refuses a wrong schedule with the argument of the tool that is wrong: %s', async (pointer, args) => {
    expect(await add(args, 'wrong-argument')).toMatchObject({ code: 'invalid_arguments', errors: [{ pointer }] });
  });
});
