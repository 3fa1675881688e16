import { z } from 'zod';
import { Suspension, Tool, type ToolContext, type ToolOutput } from '#tool-sdk';

const QUESTION_CHARACTERS = 1_500;
const OPTION_CHARACTERS = 200;
const MOST_OPTIONS = 10;

const input = z.strictObject({
  question: z.string().min(1).max(QUESTION_CHARACTERS).describe('What to ask, at most 1,500 characters.'),
  options: z
    .array(z.string().min(1).max(OPTION_CHARACTERS))
    .min(2)
    .max(MOST_OPTIONS)
    .optional()
    .describe('The possible answers, at most 10. Not said: the person writes a text.'),
});

/**
 * Asks a person and returns the answer. Holds no worker while waiting. Not an approval of another call, since a key may answer
 * the questions of its own calls: approvals belong to policy.
 */
@Tool({
  name: 'ask_user',
  label: 'Ask the user',
  description: 'Asks a person a question and returns the answer. Give options where only some answers are possible.',
  input,
  tier: 'read_only',
  timeoutMs: 10_000,
  examples: [
    { title: 'Free text', arguments: { question: 'What shall the release be called?' } },
    { title: 'A choice', arguments: { question: 'Which branch?', options: ['main', 'next'] } },
  ],
})
export class AskUserTool {
  run({ question, options }: z.output<typeof input>, ctx: ToolContext): ToolOutput {
    const { resumed } = ctx;
    if (resumed?.reason === 'input' && typeof resumed.input === 'string') return resumed.input;
    const answer = { type: 'string', ...(options === undefined ? { minLength: 1 } : { enum: options }) };
    return new Suspension({ until: 'input', prompt: question, inputSchema: answer });
  }
}
