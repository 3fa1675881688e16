import { z } from 'zod';
import { Json } from '../values/json.js';
import { CallError } from '../calls/call.js';
import { JsonSchema } from '../tools/tool.js';

export const RetryReason = z.enum(['tool_failed', 'run_timeout', 'worker_lost', 'worker_drained', 'suspended']);
export type RetryReason = z.output<typeof RetryReason>;

/** State of a suspended tool for its next attempt: stored beside the log, for the worker alone. */
export const SuspensionState = z.object({
  ref: z.string().describe('Which value of the call this is.'),
  sha256: z.string().describe('SHA-256 of the stored value, hexadecimal.'),
  bytes: z.number().int().describe('Its size in bytes.'),
});
export type SuspensionState = z.output<typeof SuspensionState>;

export const RetryData = z
  .object({
    reason: RetryReason.describe('Why the attempt went back to the queue. `suspended` and `worker_drained` count as no failure.'),
    nextAttempt: z.number().int().describe('Number of the attempt that follows.'),
    delayMs: z.number().int().describe('Milliseconds until it may start.'),
    error: CallError.optional().describe('How the attempt failed. Absent where it did not fail.'),
    until: z
      .literal('children')
      .optional()
      .describe('A suspended call also comes back when a call that it made ends. Absent where it waits for the time alone.'),
    state: SuspensionState.optional().describe('Where a suspended tool left what its next attempt gets. Absent where it left nothing.'),
  })
  .describe('An attempt went back to the queue.');
export type RetryData = z.output<typeof RetryData>;

export const InputRequestedData = z
  .object({
    prompt: z.string().optional().describe('What the tool asks for, without secrets. Absent if it did not say.'),
    inputSchema: JsonSchema.optional().describe('The JSON schema of the value. Absent where any value will do.'),
    sampling: Json.optional().describe(
      'What the model of the MCP client is asked: the parameters of `sampling/createMessage`, without secrets. Absent for questions to people.',
    ),
    declinable: z.literal(true).optional().describe('The tool goes on when the question is declined. Absent where it needs a value.'),
    nextAttempt: z.number().int().describe('Number of the attempt that follows.'),
    expiresInMs: z
      .number()
      .int()
      .optional()
      .describe('Milliseconds after which the call ends without a value. Absent where the tool goes on without one.'),
    resumeInMs: z
      .number()
      .int()
      .optional()
      .describe('Milliseconds after which the tool goes on without a value. Absent where the call ends then.'),
    state: SuspensionState.optional().describe('Where the tool left what its next attempt gets. Absent where it left nothing.'),
  })
  .describe('The tool asked for a value, and holds no worker until it comes.');
export type InputRequestedData = z.output<typeof InputRequestedData>;

export const InputGivenData = z
  .object({
    request: z.number().int().describe('The attempt that asked.'),
    value: Json.optional().describe('The value without secrets. Absent when it is large, or the question was declined.'),
    declined: z.literal(true).optional().describe('The question was declined. Absent for a value.'),
    stored: SuspensionState.optional().describe(
      'Where the value is that the worker gets. Absent where it is `value` itself: it is small and holds no secrets.',
    ),
  })
  .describe('A person or a program gave the value that the tool asked for, or declined to.');
export type InputGivenData = z.output<typeof InputGivenData>;
