import { z } from 'zod';
import { CallError } from '../calls/call.js';
import { Result } from '../values/result.js';

/** Answer of a gateway to a tool that only gateways can run. */
export const ToolAnswer = z.discriminatedUnion('kind', [
  Result.pick({ content: true, details: true, childCallIds: true }).extend({ kind: z.literal('output'), isError: z.boolean().optional() }),
  /** Waits until a call of the tool has ended; then the tool sends its request again. */
  z.object({ kind: z.literal('wait') }),
  CallError.pick({ code: true, message: true, errors: true }).extend({ kind: z.literal('failed') }),
]);
export type ToolAnswer = z.output<typeof ToolAnswer>;
