import { z } from 'zod';
import { Tool } from '#tool-sdk';
import { GatewayTool } from '../gateway/gateway-tool.js';

export const SwitchToExecutionArguments = z.strictObject({
  plan: z.string().min(1).max(150_000).describe('The whole plan: the agent that executes it sees nothing else.'),
  agent: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .meta({ 'x-choices': 'agents' })
    .describe('The sub-agent that executes it. Not said: the one that the operator set, else the program that runs the session.'),
});

/**
 * Ends planning: the plan becomes the first prompt of the agent that executes it.
 * Handled by apps/gateway/src/gateway-tools/crew-tools.service.ts.
 */
@Tool({
  name: 'switch_to_execution',
  label: 'Execute the plan',
  description:
    'Hands a finished plan to the agent that executes it. With an agent it begins at once in the background and agentId is the id of its call; else the plan waits in the session for the program that runs it. Answers {approved, plan}. Sub-agents do not have it.',
  input: SwitchToExecutionArguments,
  tier: 'read_only',
  effect: 'keyed',
  callers: 'main',
  subjects: [{ kind: 'agent', argument: 'agent' }],
  timeoutMs: 30_000,
  rawArgument: 'plan',
  examples: [{ title: 'A plan', arguments: { plan: '1. Add the flag. 2. Test it.' } }],
})
export class SwitchToExecutionTool extends GatewayTool {}
