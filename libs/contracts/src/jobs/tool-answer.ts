import { z } from 'zod';
import { CallError } from '../calls/call.js';
import { Result } from '../values/result.js';

/** What a gateway answers to a tool whose work only gateways can do. */
export const ToolAnswer = z.discriminatedUnion('kind', [
  Result.pick({ content: true, details: true, childCallIds: true }).extend({ kind: z.literal('output'), isError: z.boolean().optional() }),
  /** Until a call that it made has ended; then the tool asks again. */
  z.object({ kind: z.literal('wait') }),
  CallError.pick({ code: true, message: true, errors: true }).extend({ kind: z.literal('failed') }),
]);
export type ToolAnswer = z.output<typeof ToolAnswer>;
