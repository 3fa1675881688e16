import { z } from 'zod';
import { Tool, ToolError } from '#tool-sdk';
import { GatewayTool } from '../gateway/gateway-tool.js';

const MOST_TASKS = 100;

const Id = z.string().min(1).max(20);
const Ids = z.array(Id).min(1).max(MOST_TASKS);
const Tasks = z
  .array(
    z.strictObject({
      task_description: z.string().min(1).max(1_000).describe('What is to be done.'),
      details: z.string().max(4_000).optional().describe('More about it.'),
    }),
  )
  .max(MOST_TASKS);

export const TaskListArguments = z.strictObject({
  command: z.enum(['create', 'complete', 'add', 'remove', 'list']).describe('What to do. `create` replaces the list.'),
  tasks: Tasks.optional().describe('For `create`: the tasks, at most 100.'),
  task_list_description: z.string().max(1_000).optional().describe('For `create`: what all tasks are for.'),
  completed_task_ids: Ids.optional().describe('For `complete`: the ids of the tasks that are done.'),
  context_update: z.string().max(4_000).optional().describe('For `complete`: what has to be known for the tasks that are left.'),
  modified_files: z.array(z.string().max(1_024)).max(200).optional().describe('For `complete`: paths of files that were changed.'),
  new_tasks: Tasks.optional().describe('For `add`: further tasks.'),
  remove_task_ids: Ids.optional().describe('For `remove`: the ids of the tasks to take out.'),
  new_description: z.string().max(1_000).optional().describe('For `add` and `remove`: a new description of the list.'),
});
export type TaskListArguments = z.output<typeof TaskListArguments>;

/** The task list of the session. Handled by apps/gateway/src/gateway-tools/planning-tools.service.ts. */
@Tool({
  name: 'task_list',
  label: 'Task list',
  description:
    'Keeps a list of tasks for the session and answers the whole list after each command: `create` {tasks, task_list_description}, ' +
    '`complete` {completed_task_ids, context_update, modified_files?}, `add` {new_tasks, new_description?}, `remove` {remove_task_ids, new_description?}, `list`. ' +
    'At most 100 tasks. Complete a task as soon as it is done. Needs a session; sub-agents do not have it.',
  input: TaskListArguments,
  tier: 'side_effecting',
  effect: 'keyed',
  callers: 'main',
  timeoutMs: 30_000,
  examples: [
    {
      title: 'A new list',
      arguments: {
        command: 'create',
        task_list_description: 'Release 2.0',
        tasks: [{ task_description: 'Run the tests' }, { task_description: 'Write the notes', details: 'For users, one page' }],
      },
    },
    { title: 'What is there', arguments: { command: 'list' } },
  ],
})
export class TaskListTool extends GatewayTool {
  check(args: TaskListArguments): void {
    const missing = missingFor(args);
    if (missing !== undefined) throw new ToolError('invalid_arguments', missing);
  }
}

function missingFor({ command, ...args }: TaskListArguments): string | undefined {
  switch (command) {
    case 'create':
      if ((args.tasks ?? []).length === 0) return 'No tasks were provided';
      return args.task_list_description === undefined ? 'No task list description was provided' : undefined;
    case 'complete':
      if (args.completed_task_ids === undefined) return 'No completed task ids were provided';
      return (args.context_update ?? '').trim() === '' ? 'No context update was provided' : undefined;
    case 'add':
      return (args.new_tasks ?? []).length === 0 ? 'No tasks were provided' : undefined;
    case 'remove':
      return args.remove_task_ids === undefined ? 'No task ids to remove were provided' : undefined;
    case 'list':
      return undefined;
    default:
      return command satisfies never;
  }
}
