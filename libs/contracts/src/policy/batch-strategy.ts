import { z } from 'zod';
import { BATCH_LIMITS } from '../values/limits.js';

/** Strategy of a batch, chosen by the agent's operator, never by the model. */
export const BatchStrategy = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('tiered') }),
    z.strictObject({
      type: z.literal('parallel'),
      serializeSideEffects: z.boolean().default(false).describe('Calls of tools that are not read-only run one after another.'),
    }),
    z.strictObject({ type: z.literal('sequential') }),
    z.strictObject({
      type: z.literal('batched'),
      size: z.number().int().min(1).max(BATCH_LIMITS.calls).describe('Calls that run at the same time: 1 to 1,000.'),
    }),
  ])
  .meta({
    id: 'BatchStrategy',
    description:
      'In which order the calls of a batch run. `tiered`: read-only calls that follow each other together, any other call alone; `parallel`: all at once; `sequential`: one after another; `batched`: `size` at once, then the next `size`.',
  });
export type BatchStrategy = z.output<typeof BatchStrategy>;

export const OnFailure = z.enum(['isolate', 'abort']).meta({
  id: 'OnFailure',
  description:
    '`isolate`: a refused call costs its siblings nothing. `abort`: nothing runs unless every call may run and every question was answered with yes.',
});
export type OnFailure = z.output<typeof OnFailure>;
