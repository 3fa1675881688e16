import { z } from 'zod';
import { CallError, CallOutcome, Success } from '../calls/call.js';
import { Result } from '../values/result.js';
import { ClaimCheck } from './claim-check.js';

export const CancelRequestedData = z
  .object({
    reason: z.string().optional().describe('What the caller wrote. Absent if nothing.'),
    graceMs: z.number().int().describe('Milliseconds that the tool has to stop by itself before it is killed.'),
  })
  .describe('The cancel of the running call was requested.');
export type CancelRequestedData = z.output<typeof CancelRequestedData>;

export const Stopped = z.object({
  how: z
    .enum(['stopped', 'killed', 'finished_first', 'not_started', 'unknown'])
    .describe(
      '`stopped`: the tool ended because it was asked to; `killed`: it had to be killed; `finished_first`: it had ended before; `not_started`: it never ran; `unknown`: its end was not seen, such as when its worker fell silent, or it ended with success after it was asked to stop.',
    ),
  tookMs: z.number().int().describe('Milliseconds from the request to the end of the tool.'),
});
export type Stopped = z.output<typeof Stopped>;

/**
 * Data of an End. `isError` is the result's, wherever it is stored. Ends of older versions have neither it nor `note`, and
 * their `updates` cover the last attempt only.
 */
export const EndData = z
  .object({
    outcome: CallOutcome.describe('How the call ended.'),
    isError: Success.isError,
    note: Success.note,
    error: CallError.optional().describe('Why the call did not succeed. Absent for a completed call.'),
    result: Result.optional().describe(
      'What the model gets. Absent where the tool gave none, and when it is large: then there is `resultRef`.',
    ),
    resultRef: ClaimCheck.optional().describe('Where a large result is.'),
    output: ClaimCheck.optional().describe('Where the whole output is. Absent where the result has it.'),
    attempts: z.number().int().describe('Number of attempts; 0 if the call never ran.'),
    queueMs: z
      .number()
      .int()
      .optional()
      .describe(
        'Milliseconds from the submission to the first Start, or to the End of a call that never started. Absent for a refused call.',
      ),
    runMs: z.number().int().optional().describe('Milliseconds that the last attempt ran. Absent if none ran.'),
    cpuMs: z
      .number()
      .int()
      .optional()
      .describe(
        'CPU milliseconds of the programs that the last attempt ran. Absent where it ran none, and where the worker cannot measure them.',
      ),
    stopped: Stopped.optional().describe('How a cancel or a time-out stopped the tool. Absent without one.'),
    updates: z
      .object({
        count: z.number().int().describe('Number of Updates.'),
        sha256: z
          .string()
          .describe(
            'SHA-256 over the JSON texts of their `content`, each followed by a line feed. Where an attempt before had Updates, the digest of a later one begins with the digest of those, as 64 hexadecimal digits and a line feed.',
          ),
      })
      .optional()
      .describe(
        'Lets a reader prove that it has every Update of all attempts. Absent where a release that did not count wrote a part of the call, and where an Update never came to the log.',
      ),
  })
  .describe('The call ended. The one End of a call is its last event.');
export type EndData = z.output<typeof EndData>;
