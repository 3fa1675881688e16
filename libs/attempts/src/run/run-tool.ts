import type { RunResult } from '../commit/attempt-result.js';
import { CALL_ERRORS } from '#contracts';
import { Suspension, ToolError, type ToolOutput } from '#tool-sdk';
import type { Attempt } from './attempt.js';
import { suspensionRequest } from './suspension-request.js';

/** End carries a failure twice, as error and as result. This much of its message fits. */
export const MESSAGE_BYTES = 2_000;
const VIOLATIONS = 16;

/** How the tool itself ended. */
export type ToolRunResult = RunResult<Exclude<ToolOutput, Suspension>>;

/**
 * Waits for the tool until it returns or, after an abort, until its grace is over. Never rejects. An answer after the
 * grace is ignored.
 */
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
 * An unexpected error may hold secrets: the model gets a fixed text, and the service log gets the error with the call's
 * id.
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
