import { z } from 'zod';
import { SubmittedToolCall } from './journal/recorded-turn.js';

/** Why a gateway did not do what a sub-agent asked: its call may not go on. */
const Refused = z.object({
  kind: z.literal('refused'),
  message: z.string(),
  /** The call has ended or is being cancelled, which its worker is about to hear. Gateways of the release before do not say. */
  isOver: z.boolean().default(false),
});
export type Refused = z.output<typeof Refused>;

/** Before a turn: which tools the model may be offered, and what the caller of the run may do with the memory of its user. */
export const OpenAnswer = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('open'),
    tools: z.array(z.string()),
    // Gateways of the release before do not say: then nothing is recalled.
    memory: z.object({ recall: z.boolean(), keep: z.boolean() }).default({ recall: false, keep: false }),
  }),
  Refused,
]);
export type OpenAnswer = z.output<typeof OpenAnswer>;

/** The calls of a turn. */
export const SubmitAnswer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('submitted'), calls: z.array(SubmittedToolCall) }),
  Refused,
]);
export type SubmitAnswer = z.output<typeof SubmitAnswer>;
