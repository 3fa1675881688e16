import type { RunResult } from '../commit/attempt-result.js';
import { CALL_ERRORS } from '#contracts';
import { Suspension, ToolError, type ToolOutput } from '#tool-sdk';
import type { Attempt } from './attempt.js';
import { suspensionRequest } from './suspension-request.js';

/** Bytes of a failure's message that fit into End, which contains it twice: as error and as result. */
export const MESSAGE_BYTES = 2_000;
const VIOLATIONS = 16;

export type ToolRunResult = RunResult<Exclude<ToolOutput, Suspension>>;

/** Waits until the tool returns or, after an abort, its grace is over. Never rejects. Ignores an answer after the grace. */
export function runTool(call: () => Promise<ToolOutput>, attempt: Attempt): Promise<ToolRunResult> {
  if (attempt.abortInfo) return Promise.resolve({ kind: 'not_started' });
  const answer = Promise.resolve()
    .then(call)
    .then(toRunResult, (error: unknown) => toFailure(error, attempt.callId));
  return Promise.race([answer, attempt.graceExpired.then((): ToolRunResult => ({ kind: 'unresponsive' }))]);
}

function toRunResult(output: ToolOutput): ToolRunResult {
  return output instanceof Suspension ? suspensionRequest(output) : { kind: 'output', output };
}

/**
 * Converts an error of a tool. An unexpected error may contain secrets: the model gets a fixed text, the service log the error
 * with the call's id.
 */
export function toFailure(error: unknown, callId: string): ToolRunResult & { kind: 'failure' } {
  if (!(error instanceof ToolError)) {
    const message = `The tool failed unexpectedly. The worker's log has the details under ${callId}.`;
    return { kind: 'failure', failure: { code: 'tool_failed', message, retryable: false }, unexpected: error };
  }
  const { retryable = CALL_ERRORS[error.code].retryable, errors, missingCapability, killed, mayHaveFinished, retryAfterMs } = error.options;
  return {
    kind: 'failure',
    failure: {
      code: error.code,
      message: error.message,
      retryable,
      ...(errors ? { errors: errors.slice(0, VIOLATIONS) } : {}),
      ...(missingCapability === undefined ? {} : { missingCapability }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(killed === undefined ? {} : { killed }),
      ...(mayHaveFinished ? { mayHaveFinished } : {}),
    },
  };
}
