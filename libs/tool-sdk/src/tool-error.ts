import type { CallErrorCode, Violation } from '#contracts';

/**
 * The only error that a tool throws on purpose. Any other error ends the call as `internal`, without its message.
 *
 * @example
 * throw new ToolError('tool_failed', 'File not found: notes.md. Use file_list to see what is there.', { retryable: false });
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  constructor(
    readonly code: CallErrorCode,
    /** Read by the model: says what to do next; no secrets, no stack, no path of the machine. */
    message: string,
    readonly options: {
      /** True if the same call may succeed when run again. The tool's effect decides if the call is repeated. */
      readonly retryable?: boolean;
      /** The next attempt begins no sooner. Longer than the operator allows for a pause: there is none. */
      readonly retryAfterMs?: number;
      /** Invalid arguments, by JSON Pointer. */
      readonly errors?: readonly Violation[];
      /** Required capability of the MCP client that makes the call. */
      readonly missingCapability?: 'sampling';
      /** The process of the tool was killed. */
      readonly killed?: boolean;
      /** The process ended with success after it was asked to stop: its work may be complete. */
      readonly mayHaveFinished?: boolean;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
  }
}
