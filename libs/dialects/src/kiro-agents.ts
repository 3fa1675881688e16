import { z } from 'zod';
import { dialectTool, definedFields } from './dialect.js';

const taskFields = z.strictObject({ task_description: z.string().min(1).max(1_000), details: z.string().max(4_000).optional() });

const ids = z.array(z.string().min(1).max(20)).min(1).max(100);

const task = dialectTool({
  name: 'task',
  aliases: ['todo_list', 'todo'],
  tool: 'task_list',
  description: 'Keep a list of tasks: create, complete, add, remove, list.',
  input: z.strictObject({
    command: z.enum(['create', 'complete', 'add', 'remove', 'list']),
    tasks: z.array(taskFields).max(100).optional(),
    task_list_description: z.string().max(1_000).optional(),
    completed_task_ids: ids.optional(),
    context_update: z.string().max(4_000).optional(),
    modified_files: z.array(z.string().max(1_024)).max(200).optional(),
    new_tasks: z.array(taskFields).max(100).optional(),
    new_description: z.string().max(1_000).optional(),
    remove_task_ids: ids.optional(),
  }),
  adapt: (args) => ({ tool: 'task_list', args: definedFields(args) }),
});

const stage = z.strictObject({
  name: z.string().min(1).max(64).describe('Name of the stage.'),
  role: z.string().min(1).max(64).meta({ 'x-choices': 'agents' }).describe('The sub-agent that does it.'),
  prompt_template: z.string().min(1).max(50_000).describe('What it is asked; {task} stands for the task.'),
  depends_on: z.array(z.string().min(1).max(64)).max(20).default([]).describe('Stages that end before it begins.'),
  model: z.string().max(256).optional().describe('Without effect: the operator chooses the model.'),
});

const subagent = dialectTool({
  name: 'subagent',
  aliases: ['use_subagent', 'agent_crew'],
  tool: 'agent_crew',
  description: 'Give a task to sub-agents in stages. Stages without depends_on begin at the same time.',
  input: z.strictObject({
    task: z.string().min(1).max(100_000).describe('The task.'),
    stages: z.array(stage).min(1).max(20).describe('Its parts.'),
    mode: z.literal('blocking').default('blocking').describe('The answer comes when all stages have ended.'),
  }),
  adapt: ({ task: whole, stages }) => ({
    tool: 'agent_crew',
    args: {
      task: whole,
      stages: stages.map(({ name, role, prompt_template, depends_on }) => ({ name, role, prompt_template, depends_on })),
    },
  }),
});

const summary = dialectTool({
  name: 'summary',
  tool: 'summary',
  description: 'Give the result of your task to the agent that called you.',
  input: z.strictObject({
    taskDescription: z.string().min(1).max(10_000),
    taskResult: z.string().min(1).max(200_000),
    contextSummary: z.string().max(50_000).optional(),
  }),
  adapt: (args) => ({ tool: 'summary', args: definedFields(args) }),
});

const switchToExecution = dialectTool({
  name: 'switch_to_execution',
  tool: 'switch_to_execution',
  description: 'Hand the finished plan to the agent that executes it.',
  input: z.strictObject({ plan: z.string().min(1).max(150_000).describe('The plan.') }),
  adapt: (args) => ({ tool: 'switch_to_execution', args }),
});

const introspect = dialectTool({
  name: 'introspect',
  tool: 'introspect',
  description: 'Look into the documents of the system that runs the tools.',
  input: z.strictObject({
    query: z.string().min(1).max(1_000).optional().describe('What to look for.'),
    doc_path: z.string().min(1).max(256).optional().describe('Path of a document.'),
  }),
  adapt: (args) => ({ tool: 'introspect', args: definedFields(args) }),
});

export const KIRO_AGENTS = [task, subagent, summary, switchToExecution, introspect];
