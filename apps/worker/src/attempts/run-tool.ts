import { CALL_ERRORS, type CallErrorCode, type Violation } from '#contracts';
import { Suspension, ToolFailure, type ToolOutput } from '#tool-sdk';
import type { Attempt } from './attempt.js';

/** A failure stands in End as it is, twice: so much of it fits. */
export const MESSAGE_BYTES = 2_000;
const VIOLATIONS = 16;

export interface Failure {
  readonly code: CallErrorCode;
  /** For the model: no stack, no path of this machine. Uncut until the secrets are out of it. */
  readonly message: string;
  readonly retryable: boolean;
  readonly errors?: readonly Violation[];
  readonly killed?: boolean;
  readonly mayHaveFinished?: boolean;
  /** Who outside may have written the message. */
  readonly origin?: string;
}

/** How the tool itself ended. `no_answer`: it was told to stop and did not in its time. `not_begun`: the stop came before it ran. */
export type ToolRunResult =
  | { readonly kind: 'output'; readonly output: Exclude<ToolOutput, Suspension> }
  | { readonly kind: 'suspended'; readonly resumeInMs: number }
  | { readonly kind: 'failure'; readonly failure: Failure; readonly unexpected?: unknown }
  | { readonly kind: 'no_answer' }
  | { readonly kind: 'not_begun' };

/**
 * Runs the tool until it answers or, once it was told to stop, until its time for that is over. Never rejects. A tool
 * that answers later than that is not listened to any more.
 */
export function runTool(call: () => Promise<ToolOutput>, attempt: Attempt): Promise<ToolRunResult> {
  if (attempt.stopped) return Promise.resolve({ kind: 'not_begun' });
  const answer = Promise.resolve()
    .then(call)
    .then(toRunEnd, (error: unknown) => toFailure(error, attempt.callId));
  return Promise.race([answer, attempt.givenUp.then((): ToolRunResult => ({ kind: 'no_answer' }))]);
}

function toRunEnd(output: ToolOutput): ToolRunResult {
  return output instanceof Suspension
    ? { kind: 'suspended', resumeInMs: Math.max(0, Math.ceil(output.resumeInMs)) }
    : { kind: 'output', output };
}

/** An error that is no ToolFailure may hold anything, so the model gets a fixed text and the log gets the error under the call's id. */
export function toFailure(error: unknown, callId: string): ToolRunResult & { kind: 'failure' } {
  if (!(error instanceof ToolFailure)) {
    const message = `The tool failed unexpectedly. The worker's log has the details under ${callId}.`;
    return { kind: 'failure', failure: { code: 'tool_failed', message, retryable: false }, unexpected: error };
  }
  const { retryable = CALL_ERRORS[error.code].retryable, errors, killed, mayHaveFinished } = error.options;
  return {
    kind: 'failure',
    failure: {
      code: error.code,
      message: error.message,
      retryable,
      ...(errors ? { errors: errors.slice(0, VIOLATIONS) } : {}),
      ...(killed === undefined ? {} : { killed }),
      ...(mayHaveFinished ? { mayHaveFinished } : {}),
    },
  };
}
