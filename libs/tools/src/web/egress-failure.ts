import { EgressError } from '#sandbox';
import { ToolError } from '#tool-sdk';

/** A refused or failed request as the model reads it; other errors as they are. */
export function egressFailure(error: unknown): unknown {
  if (!(error instanceof EgressError)) return error;
  const code = { blocked: 'policy_denied', invalid: 'invalid_arguments', failed: 'tool_failed' } as const;
  return new ToolError(code[error.kind], error.message, { retryable: error.retryable, cause: error });
}
