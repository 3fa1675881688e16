import { z } from 'zod';
import { Json } from '../values/json.js';
import { Content } from '../values/result.js';
import { HookEvent } from '../hooks/hook.js';

export const StartData = z
  .object({
    tool: z.string().describe('Canonical name of the tool.'),
    arguments: Json.optional().describe(
      'The arguments without secrets, copied from the submission so that a watcher needs no look-up. Absent when they are large.',
    ),
    worker: z.string().describe('The worker that runs this attempt.'),
  })
  .describe('A worker began an attempt.');
export type StartData = z.output<typeof StartData>;

export const UpdateData = z
  .object({
    update: z.number().int().describe('Number of the update, from 1 within the attempt.'),
    content: z.array(Content).describe('Partial content for watchers, never for the model.'),
    stderr: z
      .array(z.number().int().min(0))
      .optional()
      .describe('Places in `content`, from 0, of texts that a program wrote to its standard error. Absent if there are none.'),
    truncated: z.boolean().optional().describe('Output before this update was left out. Absent otherwise.'),
  })
  .describe('Partial output of a running attempt.');
export type UpdateData = z.output<typeof UpdateData>;

export const ProgressData = z
  .object({
    message: z.string().optional().describe('What the tool does now. Absent if it did not say.'),
    done: z.number().optional().describe('Units of work that are done. Absent if the tool does not count.'),
    total: z.number().optional().describe('Units of work altogether. Absent if the tool does not know.'),
  })
  .describe('How far a running attempt is.');
export type ProgressData = z.output<typeof ProgressData>;

/** Longest `reason` of a hook run, in characters. */
export const HOOK_REASON_CHARACTERS = 300;

/**
 * One step of a hook run: `started` and later `finished`, or only `cached` if a stored answer was used and nothing ran.
 * - `before` hooks run before the call exists: their events follow `call.submitted` and are written together with it. If hooks
 *   run after a person's approval, they precede `call.approval_decided`, or the End of a rejection.
 * - Hooks in the worker write their events while they run, after `call.start` and before `call.end`.
 * - `after_end` hooks have no events, since End is the last event of a call.
 * - Update hooks have at most 1,000 events in an attempt.
 *
 * The count and digest in End do not cover these events.
 */
export const HookRunData = z
  .object({
    phase: z.enum(['started', 'finished', 'cached']).describe('The step of the run. `cached`: a stored answer was used, and nothing ran.'),
    hook: z.string().describe('The name of the hook.'),
    event: HookEvent.describe('When the hook runs.'),
    run: z.number().int().describe('Counts the runs of the attempt from 1; `started` and `finished` of a run have the same number.'),
    at: z.string().describe('RFC 3339, by the clock of the process that ran the hook. The `time` of the event is when it was written.'),
    verdict: z
      .enum(['allow', 'deny', 'stopped'])
      .optional()
      .describe(
        'What the hook said. `stopped`: the call was cancelled, or its caller disconnected, before the hook answered. Absent in `started`.',
      ),
    failed: z.literal(true).optional().describe('The hook gave no usable answer: its `onError` is the verdict. Absent otherwise.'),
    rewrote: z.literal(true).optional().describe('The hook changed the arguments. Absent otherwise.'),
    reason: z
      .string()
      .optional()
      .describe('Why, as the hook said it or as it failed; without secrets, at most 300 characters. Absent if it said nothing.'),
    tookMs: z.number().int().optional().describe('Duration in milliseconds. Absent in `started`.'),
  })
  .describe(
    'One step of a hook run. Hooks `after_end` have no events, since End is the last event of a call; update hooks have at most 1,000 in an attempt.',
  );
export type HookRunData = z.output<typeof HookRunData>;

/** Limits of one `call.turn` event, so that it is small for any answer of a model. */
export const TURN_LIMITS = { textBytes: 2_000, toolCalls: 32, nameCharacters: 64 } as const;

/**
 * One turn of a sub-agent: a request to its model and the answer. Written before the calls of the turn are submitted, so that a
 * run that continues elsewhere repeats neither. The text is cut; Updates have all of it.
 */
export const TurnData = z
  .object({
    turn: z.number().int().describe('Number of the turn, from 1 within the call.'),
    model: z.string().describe('The model that answered.'),
    requestSha256: z.string().describe('SHA-256 of the request, hexadecimal.'),
    text: z.string().optional().describe('What the model wrote, without secrets, at most 2,000 bytes of it. Absent if nothing.'),
    toolCalls: z
      .array(
        z.object({
          toolCallId: z.string().describe('The id that the model gave to the tool call.'),
          tool: z.string().describe('The name that the model asked for.'),
        }),
      )
      .describe('The calls of the turn, at most 32. Their arguments are in the calls themselves.'),
    usage: z
      .object({
        inputTokens: z.number().int().describe('Tokens that the model read.'),
        outputTokens: z.number().int().describe('Tokens that it wrote.'),
      })
      .describe('What the provider counted.'),
    tookMs: z.number().int().describe('Milliseconds from the request to the end of the answer.'),
    steering: z.number().int().optional().describe('How many messages of people to the session came with the request. Absent for none.'),
  })
  .describe('A sub-agent got an answer of its model. Written once a turn, before its calls are submitted.');
export type TurnData = z.output<typeof TurnData>;
