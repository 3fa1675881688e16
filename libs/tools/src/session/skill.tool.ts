import { z } from 'zod';
import { Tool, ToolError } from '#tool-sdk';
import { GatewayTool } from '../gateway/gateway-tool.js';

export const SkillArguments = z.strictObject({
  skill: z.string().max(128).meta({ 'x-choices': 'skills' }).describe('The name of the skill. A "/" or "$" before it is left out.'),
  args: z.string().max(20_000).optional().describe('What the skill is wanted for; it comes back with the instructions.'),
});

/** The name that a model means: `/review` and `$review` are `review`. Pure. */
export function skillNameOf(written: string): string {
  return written.trim().replace(/^[/$]+/, '');
}

/**
 * Loads the operator's instructions for agents, as text for the model: nothing in them runs.
 * Handled by apps/gateway/src/gateway-tools/skill-tools.service.ts.
 */
@Tool({
  name: 'skill',
  label: 'Load a skill',
  description:
    'Loads the instructions of a skill, for a kind of task that comes again. Answers {skill, path, args, description, prompt}: follow prompt. An unknown name is answered with the names there are.',
  input: SkillArguments,
  tier: 'read_only',
  timeoutMs: 30_000,
  aliases: ['Skill'],
  rawArgument: 'skill',
  examples: [{ title: 'How to review', arguments: { skill: 'review', args: 'the last commit' } }],
})
export class SkillTool extends GatewayTool {
  check({ skill }: z.output<typeof SkillArguments>): void {
    if (skillNameOf(skill) === '') throw new ToolError('invalid_arguments', 'skill must not be empty');
  }
}
