import { z } from 'zod';
import { SubmittedToolCall } from './journal/recorded-turn.js';

/** Rejection by a gateway: the call of the sub-agent may not continue. */
const Refused = z.object({
  kind: z.literal('refused'),
  message: z.string(),
  /**
   * True if the call has ended or is being cancelled, of which its worker is about to be notified. Absent in gateways of the
   * previous release.
   */
  isOver: z.boolean().default(false),
});
export type Refused = z.output<typeof Refused>;

/** Answer before a turn: tools for the model, and the caller's rights to the memory of its user. */
export const OpenAnswer = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('open'),
    tools: z.array(z.string()),
    // Absent in gateways of the previous release: nothing is then recalled.
    memory: z.object({ recall: z.boolean(), keep: z.boolean() }).default({ recall: false, keep: false }),
  }),
  Refused,
]);
export type OpenAnswer = z.output<typeof OpenAnswer>;

export const SubmitAnswer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('submitted'), calls: z.array(SubmittedToolCall) }),
  Refused,
]);
export type SubmitAnswer = z.output<typeof SubmitAnswer>;
