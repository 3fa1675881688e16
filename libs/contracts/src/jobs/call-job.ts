import { z } from 'zod';
import { CallId } from '../values/names.js';

/** Job in BullMQ: an attempt of a call. Lost or duplicate jobs do no harm. */
export const CallJob = z.object({ callId: CallId, attempt: z.number().int().min(1) });
export type CallJob = z.output<typeof CallJob>;
