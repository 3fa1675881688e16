import { z } from 'zod';
import { Json } from './json.js';
import { keysOf } from './keys-of.js';

/** Most bytes of all data that agents store in a session. */
export const SESSION_DATA_BYTES = 262_144;

export const TodoStatus = z.enum(['pending', 'in_progress', 'completed']);

export const Todo = z
  .object({
    content: z.string().describe('What is to be done.'),
    activeForm: z.string().optional().describe('The same while it is being done. Absent if the agent gave none.'),
    status: TodoStatus.describe('How far it is.'),
  })
  .meta({ id: 'Todo', description: 'One step of the todo list of an agent.' });
export type Todo = z.output<typeof Todo>;

export const TaskList = z
  .object({
    description: z.string().describe('What all tasks are for.'),
    tasks: z
      .array(
        z.object({
          id: z.string().describe('Its number in the list.'),
          description: z.string().describe('What is to be done.'),
          details: z.string().optional().describe('More about it. Absent if the agent gave none.'),
          completed: z.boolean().describe('Whether it is done.'),
        }),
      )
      .describe('The tasks, in order.'),
    context: z.array(z.string()).describe('What the agent noted when it completed tasks, oldest first.'),
    modifiedFiles: z.array(z.string()).describe('Files that it says it changed.'),
  })
  .meta({ id: 'TaskList', description: 'The task list of an agent.' });
export type TaskList = z.output<typeof TaskList>;

export const PlanExecution = z
  .object({
    plan: z.string().describe('The plan, without secrets.'),
    agent: z.string().optional().describe('The sub-agent that executes it. Absent: the program that runs the session does.'),
    callId: z.string().describe('The call that handed it over.'),
  })
  .meta({ id: 'PlanExecution', description: 'A plan that an agent has handed over for execution.' });

/** Data that the agents of a session store in it by their tools. */
export const SESSION_DATA = {
  todos: z.array(Todo).optional().describe('The todo list. Absent = none.'),
  taskList: TaskList.optional().describe('The task list. Absent = none.'),
  settings: z.record(z.string(), Json).optional().describe('Settings that agents changed, by name. Absent = none.'),
  execution: PlanExecution.optional().describe('The plan that is to be executed. Absent = none.'),
  foundTools: z.array(z.string()).optional().describe('Deferred tools that were found in the session. Absent = none.'),
};

export const SESSION_DATA_PARTS = keysOf(SESSION_DATA);
