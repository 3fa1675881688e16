import { z } from 'zod';
import { CALL_ERROR_CODES, REQUEST_ERROR_CODES, errorEntry, type ErrorCode } from './error.catalog.js';
import { Result } from '../calls/result.js';

/** One fault in a request, located by a JSON Pointer (RFC 6901) into the body. */
export const Violation = z.object({ pointer: z.string(), message: z.string() }).meta({ id: 'Violation' });
export type Violation = z.output<typeof Violation>;

/** RFC 9457 problem details. A refused submission has a `result` that an agent can hand to its model unchanged, and a `callId` once it became a call. */
export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.enum([...CALL_ERROR_CODES, ...REQUEST_ERROR_CODES]),
    instance: z.string().optional(),
    errors: z.array(Violation).optional(),
    callId: z.string().optional(),
    result: Result.optional(),
    retryAfterMs: z.number().int().optional(),
  })
  .meta({ id: 'Problem' });
export type Problem = z.output<typeof Problem>;

/**
 * A refusal that the gateway sends as `application/problem+json`, a WebSocket `error` frame or an MCP error.
 * `detail` says what was expected, what came, and what to do; it never holds a secret, a path of this machine or a stack.
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
