import { MissingRequiredClientCapabilityError, ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { ZodError } from 'zod';
import { ToolError, type ToolContext } from '#tool-sdk';
import { isRefusedBySession } from './lost-session.js';

/** The client read an answer and refused it. */
const REFUSED_ANSWERS = new Set<string>([
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.ClientHttpUnexpectedContent,
  SdkErrorCode.ClientHttpNotImplemented,
]);
/** The server did not begin the call, or what answers in its place did not reach it. 404: the session is not known. */
const NOT_BEGUN = new Set([401, 404, 408, 421, 425, 429, 502, 503]);

/**
 * Why a call failed. Once the server answered, whatever it said, the tool may have run: such a call is not retryable. All
 * other errors mean that the server cannot be reached.
 */
export function callFailure(error: unknown, { sampling }: Pick<ToolContext, 'sampling'>, redact: (text: string) => string): ToolError {
  const message = redact(error instanceof Error ? error.message : String(error)).slice(0, 2_000);
  if (error instanceof MissingRequiredClientCapabilityError && sampling !== true && error.requiredCapabilities.sampling !== undefined)
    return new ToolError('tool_failed', message, { retryable: false, missingCapability: 'sampling', cause: error });
  if (error instanceof ProtocolError) return new ToolError('tool_failed', message, { retryable: false, cause: error });
  if (isAnswer(error)) return new ToolError('tool_failed', `MCP call failed: ${message}`, { retryable: false, cause: error });
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return new ToolError('run_timeout', 'The MCP server did not answer in time.', { retryable: true, cause: error });
  const retryable = !(error instanceof ToolError) || error.options.retryable === true;
  return new ToolError('unavailable', `MCP call failed: ${message}`, { retryable, cause: error });
}

function isAnswer(error: unknown): boolean {
  if (isRefusedBySession(error) || (error instanceof SdkHttpError && NOT_BEGUN.has(error.status ?? 0))) return false;
  return error instanceof ZodError || (error instanceof SdkError && REFUSED_ANSWERS.has(error.code));
}
