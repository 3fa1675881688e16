import { z } from 'zod';
import { TodoStatus } from '#contracts';
import { Tool, ToolError } from '#tool-sdk';
import { GatewayTool } from '../gateway/gateway-tool.js';

const MOST_TODOS = 100;
const MOST_CHARACTERS = 500;

const text = z.string().max(MOST_CHARACTERS);

export const TodoWriteArguments = z.strictObject({
  todos: z
    .array(
      z.strictObject({
        content: text.describe('What is to be done, such as "Run the tests".'),
        activeForm: text.optional().describe('The same while it is being done, such as "Running the tests".'),
        status: TodoStatus.describe('At most one todo is in progress.'),
      }),
    )
    .max(MOST_TODOS)
    .describe('The whole list: it replaces the one before. At most 100.'),
});
type Arguments = z.output<typeof TodoWriteArguments>;

/** Replaces the todo list of the session. Handled by apps/gateway/src/gateway-tools/planning-tools.service.ts. */
@Tool({
  name: 'todo_write',
  label: 'Write todos',
  description:
    'Replaces the todo list of the session and answers the old list and the new one. Use it for work of several steps: mark a todo ' +
    '"in_progress" before you begin it and "completed" as soon as it is done. At most one is in progress. When all are completed, the list is cleared. Needs a session.',
  input: TodoWriteArguments,
  tier: 'side_effecting',
  effect: 'keyed',
  timeoutMs: 30_000,
  examples: [
    {
      title: 'Two steps',
      arguments: {
        todos: [
          { content: 'Fix the parser', activeForm: 'Fixing the parser', status: 'in_progress' },
          { content: 'Verify with the tests', activeForm: 'Verifying with the tests', status: 'pending' },
        ],
      },
    },
  ],
})
export class TodoWriteTool extends GatewayTool {
  check({ todos }: Arguments): void {
    if (todos.length === 0) throw new ToolError('invalid_arguments', 'todos must not be empty');
    for (const [index, { content, activeForm }] of todos.entries()) {
      if (content.trim() === '') throw wrong(index, 'content', 'todo content must not be empty');
      if (activeForm?.trim() === '') throw wrong(index, 'activeForm', 'todo activeForm must not be empty');
    }
    const open = todos.flatMap(({ status }, index) => (status === 'in_progress' ? [index] : []));
    if (open.length > 1) throw wrong(open[1] ?? 0, 'status', `at most one todo may be in_progress, received ${open.length}`);
  }
}

function wrong(index: number, field: string, message: string): ToolError {
  return new ToolError('invalid_arguments', message, { errors: [{ pointer: `/todos/${index}/${field}`, message }] });
}
