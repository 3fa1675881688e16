import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call, Session } from '#contracts';
import { Agent } from '../support/agent.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const GITHUB = 'ghp_1q2w3e4r5t6y7u8i9o0p1q2w3e4r5t6y7u8i';

let toolyard: TestCluster;
let agent: Agent;

beforeAll(async () => {
  toolyard = await startTestCluster({ gateways: 2, workers: 2 });
  agent = new Agent(toolyard.gateways[0]?.url ?? '');
});
afterAll(() => toolyard?.close());

const jsonOf = ({ result, error }: Call): unknown => {
  const [first] = result?.content ?? [];
  return first?.type === 'json' ? first.json : (error ?? first);
};
const run = async (tool: string, args: object, sessionId: string) => jsonOf(await agent.run(tool, args, { sessionId }));
const session = async (id: string) => (await agent.get<Session>(`/v1/sessions/${id}`)).body;
const todo = (content: string, status: string) => ({ content, activeForm: `${content}...`, status });

describe('todo_write', () => {
  it('replaces the list of the session, which everyone sees, and clears it when all is done [TB-113]', async () => {
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

  it('refuses lists that make no sense, calls without a session, and keeps no secrets', async () => {
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

  it('loses none of many changes that come at once, over several workers and gateways', async () => {
    const names = Array.from({ length: 12 }, (_unused, index) => `task ${index}`);
    await Promise.all(names.map((name) => run('task_list', { command: 'add', new_tasks: [{ task_description: name }] }, 'parallel')));
    const { taskList } = await session('parallel');
    expect(taskList?.tasks.map(({ description }) => description).sort()).toEqual([...names].sort());
    expect(new Set(taskList?.tasks.map(({ id }) => id)).size).toBe(names.length);
  });

  it('is bound in what a session keeps', async () => {
    const details = 'x'.repeat(4_000);
    const many = (count: number) => Array.from({ length: count }, () => ({ task_description: 'Much', details }));
    await run('task_list', { command: 'create', task_list_description: '', tasks: many(60) }, 'bound');
    expect(await run('task_list', { command: 'add', new_tasks: many(10) }, 'bound')).toMatchObject({ code: 'quota_exceeded' });
    expect((await session('bound')).taskList?.tasks).toHaveLength(60);
  });
});
