import { z } from 'zod';
import { CALL_ERROR_CODES, REQUEST_ERROR_CODES, errorEntry, type ErrorCode } from './error.catalog.js';
import { Result } from '../values/result.js';
import { PROBLEM_EXAMPLES } from '../values/examples.js';

export const Violation = z
  .object({
    pointer: z.string().describe('JSON Pointer (RFC 6901) into the body; empty for the body itself.'),
    message: z.string().describe('What was expected and what was received.'),
  })
  .meta({ id: 'Violation', description: 'One fault in a request.' });
export type Violation = z.output<typeof Violation>;

/**
 * Problem details by RFC 9457. A rejected submission has a `result` that an agent can pass to its model unchanged, and a
 * `callId` once it became a call.
 */
export const Problem = z
  .object({
    type: z.string().describe('`urn:toolyard:problem:<code>`.'),
    title: z.string().describe('What the code means; the same for all problems with this code.'),
    status: z.number().int().describe('The HTTP status.'),
    detail: z.string().describe('What was expected, what was received and what to do, for this request. Without secrets.'),
    code: z
      .enum([...CALL_ERROR_CODES, ...REQUEST_ERROR_CODES])
      .describe('The reason; it stays the same in all versions, so programs compare this.'),
    instance: z.string().optional().describe('Names this request in the log of the gateway. Absent in frames and lists.'),
    errors: z
      .array(Violation)
      .optional()
      .describe('What is wrong with the request, one entry a fault. Absent where the fault has no place in it.'),
    callId: z.string().optional().describe('The call that the submission became before it was refused. Absent if there is none.'),
    result: Result.optional().describe('The refusal as a result for the model. Present for refused submissions.'),
    retryAfterMs: z
      .number()
      .int()
      .optional()
      .describe('Milliseconds after which the same request may succeed. Absent where waiting does not help.'),
  })
  .meta({
    id: 'Problem',
    description: 'Why a request was refused (RFC 9457). A refused submission has a `result` that an agent can hand to its model unchanged.',
    examples: PROBLEM_EXAMPLES,
  });
export type Problem = z.output<typeof Problem>;

/**
 * Rejection that the gateway sends as `application/problem+json`, a WebSocket `error` frame or an MCP error. `detail` states
 * the expectation, the received value and the remedy; it never contains a secret, a path of this machine or a stack.
 */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';

  constructor(
    readonly code: ErrorCode,
    readonly detail: string,
    readonly facts: Pick<Problem, 'errors' | 'callId' | 'result' | 'retryAfterMs'> = {},
  ) {
    super(`${code}: ${detail}`);
  }

  get status(): number {
    return errorEntry(this.code).status;
  }

  toProblem(instance?: string): Problem {
    const { status, title } = errorEntry(this.code);
    return {
      type: `urn:toolyard:problem:${this.code}`,
      title,
      status,
      detail: this.detail,
      code: this.code,
      ...(instance === undefined ? {} : { instance }),
      ...this.facts,
    };
  }
}
