import { z } from 'zod';
import { dialectTool, definedFields } from './dialect.js';
import { jsonText } from './claude-code-texts.js';

const skill = dialectTool({
  name: 'Skill',
  tool: 'skill',
  description: 'Load the instructions of a skill.',
  input: z.strictObject({
    skill: z.string().max(128).meta({ 'x-choices': 'skills' }).describe('Name of the skill.'),
    args: z.string().max(20_000).optional().describe('What it is wanted for.'),
  }),
  adapt: (args) => ({ tool: 'skill', args: definedFields(args) }),
  result: jsonText,
});

const agent = dialectTool({
  name: 'Agent',
  tool: 'agent',
  description: 'Give a task to a sub-agent and get its last text; with run_in_background its id, while it runs.',
  input: z.strictObject({
    description: z.string().max(1_000).describe('What the sub-agent is for, in a few words.'),
    prompt: z.string().min(1).max(150_000).describe('The task, with all that it needs to know.'),
    subagent_type: z.string().max(64).default('general-purpose').meta({ 'x-choices': 'agents' }).describe('The sub-agent.'),
    name: z.string().max(256).optional().describe('Without effect.'),
    model: z.string().max(256).optional().describe('Without effect: the operator chooses the model.'),
    run_in_background: z.boolean().default(false).describe('Answer at once; the sub-agent goes on.'),
  }),
  adapt: ({ prompt, subagent_type, run_in_background }) => {
    if (subagent_type === '') throw new Error('subagent_type must not be empty');
    // Names of sub-agents have lower-case letters only.
    return { tool: 'agent', args: { agent: subagent_type.toLowerCase(), prompt, background: run_in_background } };
  },
  result: (result) => (result.args['background'] === true ? jsonText(result) : { content: result.content, isError: result.isError }),
});

const toolSearch = dialectTool({
  name: 'ToolSearch',
  tool: 'tool_search',
  description: 'Find tools that are not in the list, by names (select:A,B) or words.',
  input: z.strictObject({
    query: z.string().max(500).describe('Words, or select: and names.'),
    max_results: z.number().int().min(1).max(50).default(5).describe('How many to find.'),
  }),
  adapt: (args) => ({ tool: 'tool_search', args }),
  result: jsonText,
});

/** Sub-agents, skills and tools that are looked up. */
export const CLAUDE_CODE_AGENTS = [skill, agent, toolSearch];
