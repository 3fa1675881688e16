import { z } from 'zod';
import { Tool, type ToolOutput } from '#tool-sdk';

const input = z.strictObject({
  taskDescription: z.string().min(1).max(10_000).describe('The task, in your words.'),
  taskResult: z.string().min(1).max(200_000).describe('The result: what the agent that called you gets.'),
  contextSummary: z.string().max(50_000).optional().describe('What else it should know.'),
});

/** The result of a sub-agent. The loop of the sub-agent takes it from the call's arguments. */
@Tool({
  name: 'summary',
  label: 'Summary',
  description: 'Gives the result of your task to the agent that called you. Call it last. Only sub-agents have it.',
  input,
  tier: 'read_only',
  callers: 'sub_agents',
  timeoutMs: 10_000,
  examples: [{ title: 'A result', arguments: { taskDescription: 'Find the bug', taskResult: 'It is in parse(), line 12.' } }],
})
export class SummaryTool {
  run(): ToolOutput {
    return '';
  }
}
