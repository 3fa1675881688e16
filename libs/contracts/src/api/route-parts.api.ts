// Parameters, headers and texts that several groups of routes share.
import { z } from 'zod';
import { CallId } from '../values/names.js';
import { QueryNumber } from './call-list.api.js';
import { IdempotencyKey } from './calls.api.js';
import { LIMITS } from '../values/limits.js';

export const CallIdParams = z.object({ id: CallId.describe('The id of the call.') });

/** Query parameter `?wait=<seconds>`. */
export const WaitQuery = z.object({
  wait: QueryNumber.min(0)
    .max(LIMITS.waitSeconds)
    .optional()
    .describe('Wait for the end of the call at most so many seconds: 0 to 60. The answer is the call as it is then.'),
});

export const SubmitHeaders = z.object({
  'Idempotency-Key': IdempotencyKey.optional().meta({
    description:
      'The same request with the same key within 24 hours is the same call; another request with it is refused, also the same one of another agent, user, or API key that may not use all tools.',
  }),
  Prefer: z
    .string()
    .optional()
    .meta({
      description: `\`wait=<seconds>\` (RFC 7240): answer when the call has ended, at most that long; more than ${LIMITS.waitSeconds} counts as ${LIMITS.waitSeconds}. With \`, cancel-on-disconnect\` a call is cancelled when the client goes away during the wait, which needs the scope \`cancel\`; batches go on.`,
      examples: ['wait=10', 'wait=10, cancel-on-disconnect'],
    }),
  traceparent: z
    .string()
    .optional()
    .meta({
      description: 'W3C Trace Context, version 00: the trace that the call belongs to. A malformed one is ignored.',
      examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
    }),
});

export const ReprDigest = z
  .string()
  .optional()
  .meta({
    description: 'RFC 9530: the SHA-256 of the body. Refused when it is another one.',
    examples: ['sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:'],
  });

export const ResumeHeaders = z.object({
  'Last-Event-ID': z
    .string()
    .optional()
    .meta({ description: 'With `Accept: text/event-stream`: the `id` of the last message that was read. The stream goes on after it.' }),
});

/** Common description of server-sent events. */
export const STREAM_TEXT =
  'Each message has an `id`, the cursor for `Last-Event-ID`, and as `event` the type of the event. `gap` says which updates a slow reader was spared, `resync` that events cannot be had and how the calls are instead.';
