import { z } from 'zod';
import { SubmittedToolCall } from './journal/recorded-turn.js';

/** Why a gateway did not do what a sub-agent asked: its call may not go on. */
const Refused = z.object({ kind: z.literal('refused'), message: z.string() });

/** Before a turn: which tools the model may be offered. */
export const OpenAnswer = z.discriminatedUnion('kind', [z.object({ kind: z.literal('open'), tools: z.array(z.string()) }), Refused]);
export type OpenAnswer = z.output<typeof OpenAnswer>;

/** The calls of a turn. */
export const SubmitAnswer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('submitted'), calls: z.array(SubmittedToolCall) }),
  Refused,
]);
export type SubmitAnswer = z.output<typeof SubmitAnswer>;
