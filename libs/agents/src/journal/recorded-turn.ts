import { z } from 'zod';
import { ModelThinking } from '../model/model.port.js';

/** A call that the model asked for. One with a `refusal` is not submitted: the model reads the refusal as its result. */
export const RecordedToolCall = z.object({
  toolCallId: z.string(),
  tool: z.string(),
  /** An object, as JSON text; `{}` where the model sent no object. */
  arguments: z.string(),
  refusal: z.string().optional(),
});
export type RecordedToolCall = z.output<typeof RecordedToolCall>;

/** An answer of the model as the journal keeps it: unredacted, since the next request repeats it. */
export const RecordedTurn = z.object({
  turn: z.number().int(),
  model: z.string(),
  requestSha256: z.string(),
  text: z.string(),
  /** No event shows it. */
  thinking: z.array(ModelThinking).optional(),
  toolCalls: z.array(RecordedToolCall),
  /** Further calls of the turn, which were left out. */
  leftOut: z.number().int(),
  usage: z.object({ inputTokens: z.number(), outputTokens: z.number() }),
  tookMs: z.number().int(),
  steering: z.number().int(),
});
export type RecordedTurn = z.output<typeof RecordedTurn>;

/** The calls of a turn that are submitted, in order. Pure. */
export function wantedOf({ toolCalls }: Pick<RecordedTurn, 'toolCalls'>): RecordedToolCall[] {
  return toolCalls.filter(({ refusal }) => refusal === undefined);
}

/** What became of a submission. Without a call there is the reason, for the model; with one, why it does not run. */
export const SubmittedToolCall = z.object({
  toolCallId: z.string(),
  callId: z.string().optional(),
  /** The call is one of a sub-agent, which uses up this one's budget. */
  isAgent: z.boolean().default(false),
  error: z.string().optional(),
});
export type SubmittedToolCall = z.output<typeof SubmittedToolCall>;
