import { z } from 'zod';
import { BatchStrategy, OnFailure } from '../api/batches.api.js';

/** The most text of a result that any profile gives a model, bytes: two streams of 1 MiB, and what is said about them. */
export const MODEL_OUTPUT_CAP = 2_162_688;

/** How an agent's calls are taken and answered, where neither the call nor its batch says so. */
export const ExecutionPolicy = z
  .strictObject({
    /** Of batches that name none. */
    strategy: BatchStrategy,
    onFailure: OnFailure,
    /** False: arguments that a tool does not know are left out instead of refused; those within its arguments are refused still. */
    strictArguments: z.boolean(),
    /** Text of a result above it is cut for the model, bytes. `limits.resultBytes` may say less. */
    resultBytes: z.number().int().min(256).max(MODEL_OUTPUT_CAP),
  })
  .meta({ id: 'ExecutionPolicy' });
export type ExecutionPolicy = z.output<typeof ExecutionPolicy>;
