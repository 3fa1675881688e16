import { z } from 'zod';
import { ModelThinking } from '../model/model.port.js';

/** Call requested by the model. One with a `refusal` is not submitted: the model reads the refusal as its result. */
export const RecordedToolCall = z.object({
  toolCallId: z.string(),
  tool: z.string(),
  /** Object as JSON text; `{}` if the model sent no object. */
  arguments: z.string(),
  refusal: z.string().optional(),
});
export type RecordedToolCall = z.output<typeof RecordedToolCall>;

/** Answer of the model in the journal: unredacted, since the next request repeats it. */
export const RecordedTurn = z.object({
  turn: z.number().int(),
  model: z.string(),
  requestSha256: z.string(),
  text: z.string(),
  /** Thinking, which no event shows. */
  thinking: z.array(ModelThinking).optional(),
  toolCalls: z.array(RecordedToolCall),
  /** Number of further calls of the turn that were dropped. */
  leftOut: z.number().int(),
  usage: z.object({ inputTokens: z.number(), outputTokens: z.number() }),
  tookMs: z.number().int(),
  steering: z.number().int(),
});
export type RecordedTurn = z.output<typeof RecordedTurn>;

/** Calls of a turn that are submitted, in order. Pure. */
export function wantedOf({ toolCalls }: Pick<RecordedTurn, 'toolCalls'>): RecordedToolCall[] {
  return toolCalls.filter(({ refusal }) => refusal === undefined);
}

/** Result of a submission. `error` without a call is the reason, for the model; with a call, the reason why it does not run. */
export const SubmittedToolCall = z.object({
  toolCallId: z.string(),
  callId: z.string().optional(),
  /** True for a call of a sub-agent, which uses this one's budget. */
  isAgent: z.boolean().default(false),
  error: z.string().optional(),
});
export type SubmittedToolCall = z.output<typeof SubmittedToolCall>;
