import { z } from 'zod';
import { CallId } from '../values/names.js';

/** All that BullMQ carries: which attempt of which call to run. Losing or doubling it does no harm. */
export const CallJob = z.object({ callId: CallId, attempt: z.number().int().min(1) });
export type CallJob = z.output<typeof CallJob>;
