import { z } from 'zod';

/** Response of `GET /v1/calls/:id/debug`. */
export const CallDebugLog = z
  .object({
    callId: z.string().describe('The call.'),
    traceparent: z.string().optional().describe('The trace with the spans of the call (W3C Trace Context). Absent without one.'),
    entries: z
      .array(
        z.object({
          at: z
            .string()
            .describe(
              'When: RFC 3339, UTC. Of stages and rules: when the submission was stored. Of the start of a program: by the clock of its worker.',
            ),
          afterMs: z.number().int().describe('Milliseconds since the submission was stored.'),
          step: z
            .enum([
              'stage',
              'policy',
              'dispatch',
              'approval',
              'hook',
              'attempt',
              'output',
              'turn',
              'input',
              'cancel',
              'process',
              'retry',
              'end',
            ])
            .describe('What kind of step it is.'),
          text: z.string().describe('What happened, for people; without arguments, output and secrets.'),
          by: z.string().describe('The process or person that did it.'),
          attempt: z.number().int().optional().describe('Number of the attempt. Absent before the first.'),
          tookMs: z
            .number()
            .int()
            .optional()
            .describe('Its duration in milliseconds. Absent where it has none, where it is under 1 and where it was not measured.'),
        }),
      )
      .describe('Oldest first.'),
  })
  .meta({ id: 'CallDebugLog', description: 'The steps of a call as the processes took them.' });
export type CallDebugLog = z.output<typeof CallDebugLog>;
export type CallDebugEntry = CallDebugLog['entries'][number];
