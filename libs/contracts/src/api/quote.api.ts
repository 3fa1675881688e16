import { z } from 'zod';
import { Decision, Risk } from '../calls/call.js';
import { Violation } from '../errors/problem.js';
import { QUOTE_EXAMPLES } from '../values/examples.js';

/** Response of a dry run: the outcome of a submission, without submitting it. */
export const Quote = z
  .object({
    tool: z.string().optional().describe('Canonical name of the tool. Absent for a tool that does not exist.'),
    valid: z.boolean().describe('Whether tool and arguments are accepted.'),
    errors: z.array(Violation).describe('What is wrong with them, one entry a fault.'),
    decision: Decision.optional().describe('What policy and limits say. Absent where the arguments are not valid.'),
    risk: Risk.optional().describe('What the call may do at most. Absent where the arguments are not valid.'),
    approvalNeeded: z.boolean().describe('A person would be asked.'),
    queueDepth: z.number().int().optional().describe(`Calls that wait in the tool's pool. Absent where the call would not reach it.`),
    expectedStartMs: z
      .number()
      .int()
      .optional()
      .describe(
        'Milliseconds until the call would start: 0 with a free slot, else as long as the calls that are served now have waited. An estimate. Absent if unknown: the call is refused, waits for approval, or no worker serves the pool.',
      ),
  })
  .meta({ id: 'Quote', description: 'What a submission would meet now.', examples: QUOTE_EXAMPLES });
export type Quote = z.output<typeof Quote>;
