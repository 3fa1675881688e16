import { z } from 'zod';
import { BatchStrategy, OnFailure } from './batch-strategy.js';

/** Most bytes of result text that any profile gives a model: two streams of 1 MiB, and the notes about them. */
export const MODEL_OUTPUT_CAP = 2_162_688;

/** Execution settings of an agent's calls, unless the call or its batch has its own. */
export const ExecutionPolicy = z
  .strictObject({
    strategy: BatchStrategy.describe('In which order the calls of a batch run that names no strategy.'),
    onFailure: OnFailure.describe('What the failure of one call of a batch means for the others, where the batch does not say.'),
    strictArguments: z
      .boolean()
      .describe(
        'False: arguments that a tool does not know are left out instead of refused; those within its arguments are refused still.',
      ),
    resultBytes: z
      .number()
      .int()
      .min(256)
      .max(MODEL_OUTPUT_CAP)
      .describe(
        'Longest text of a result in bytes; more is cut for the model. `limits.resultBytes` may say less. Of commands beginning and end are kept, of other tools the beginning.',
      ),
    resultTailBytes: z
      .number()
      .int()
      .min(0)
      .max(MODEL_OUTPUT_CAP)
      .optional()
      .describe(
        "How many of these bytes are the end of a command's output; 0 keeps the beginning alone. Not set: three quarters where the exit code is not 0, else one quarter.",
      ),
  })
  .meta({ id: 'ExecutionPolicy' });
export type ExecutionPolicy = z.output<typeof ExecutionPolicy>;
