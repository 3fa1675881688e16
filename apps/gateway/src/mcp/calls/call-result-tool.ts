import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { CALL_RESULT_TOOL, LIMITS } from '#contracts';

const MAX_WAIT_MS = LIMITS.waitSeconds * 1000;

export const CallResultArguments = z.strictObject({
  callId: z.string().min(1).max(64),
  waitMs: z.number().int().min(0).max(MAX_WAIT_MS).optional(),
});

export const CALL_RESULT_ARGUMENTS_TEXT = `Expected {"callId": string, "waitMs"?: integer from 0 to ${MAX_WAIT_MS}}`;

/** Part of every tool list. Makes no call, but returns the result of an earlier one. */
export const CALL_RESULT_DEFINITION: Tool = {
  name: CALL_RESULT_TOOL,
  title: 'Result of a call',
  description:
    'Waits for the result of a tool call that was made before and went on for longer than its answer could wait, or that waited for approval. Takes the callId that the earlier answer named.',
  inputSchema: {
    type: 'object',
    properties: {
      callId: { type: 'string', description: 'The id of the call, as the earlier answer named it.' },
      waitMs: { type: 'integer', minimum: 0, maximum: MAX_WAIT_MS, description: 'How long to wait for its end.' },
    },
    required: ['callId'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};
