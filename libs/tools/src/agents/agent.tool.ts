import { z } from 'zod';
import { Tool } from '#tool-sdk';
import { GatewayTool } from '../gateway/gateway-tool.js';

export const AgentToolArguments = z.strictObject({
  agent: z.string().min(1).max(64).meta({ 'x-choices': 'agents' }).describe('The name of the sub-agent.'),
  prompt: z
    .string()
    .min(1)
    .max(150_000)
    .describe('The task, with all that is needed to do it: the sub-agent sees nothing of this conversation.'),
  context: z.string().max(50_000).optional().describe('What it should know before; it comes before the task.'),
  background: z.boolean().default(false).describe('Answer at once; the sub-agent goes on, and its call has its result.'),
});

/**
 * Calls a sub-agent by its name. The call is evaluated as if the caller made it, and counts for levels and budgets.
 * Handled by apps/gateway/src/gateway-tools/agent-tools.service.ts.
 */
@Tool({
  name: 'agent',
  label: 'Call a sub-agent',
  description:
    'Gives a task to a sub-agent and answers its last text. With background it answers {agentId, name, status} at once. An unknown name is answered with the names there are. Sub-agents do not have it.',
  input: AgentToolArguments,
  tier: 'side_effecting',
  effect: 'keyed',
  callers: 'main',
  subjects: [{ kind: 'agent', argument: 'agent' }],
  timeoutMs: 30_000,
  aliases: ['delegate'],
  examples: [{ title: 'A task', arguments: { agent: 'explorer', prompt: 'Where is the parser?' } }],
})
export class AgentTool extends GatewayTool {}
