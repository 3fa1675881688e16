import { createHash } from 'node:crypto';
import { type Memory, MemoryFailure, type MemoryScope } from '#memory';
import { type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';

/** Worker parts required by the tools of this folder. */
export const NEEDS_MEMORY = ['memory'] as const;

export const CONTENT_CHARACTERS = 32_768;

const NO_USER =
  'Nothing was done: the user context is not available. Memory is kept per user. The operator gives the key or the session a user, or the program that calls names one in userId.';
const NO_DATABASE = 'There is no memory here: the operator sets DATABASE_URL for the workers.';

/**
 * Runs with the memory of the call's user, which is never taken from arguments. Rejects with a ToolError for a call without a
 * user, a worker without a database, and for what the memory refuses.
 */
export async function useMemory<T>(
  memory: Memory | undefined,
  ctx: ToolContext,
  run: (memory: Memory, scope: MemoryScope) => Promise<T>,
): Promise<T> {
  const { tenantId, userId, sessionId } = ctx;
  if (memory === undefined) throw new ToolError('unavailable', NO_DATABASE, { retryable: false });
  if (userId === undefined) throw new ToolError('tool_failed', NO_USER);
  ctx.signal.throwIfAborted();
  try {
    return await run(memory, { tenantId, userId, sessionId });
  } catch (error) {
    throw error instanceof MemoryFailure ? asToolError(error) : error;
  }
}

/** The same for every attempt of a call, so that a repetition changes nothing. */
export function idOf(prefix: string, { callId }: Pick<ToolContext, 'callId'>): string {
  const hex = createHash('sha256').update(`${prefix} ${callId}`).digest('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)];
  return `${prefix}-${parts.join('-')}`;
}

/** @throws ToolError for a text without anything to remember */
export function requireContent(content: string): void {
  if (content.trim() === '') throw new ToolError('invalid_arguments', 'content must not be empty');
}

/** Results of a search, followed by a note on its limits, if any. */
export function found(text: string, ranking: string, isLimited: boolean, details: object): ToolOutputObject {
  const note = isLimited ? [{ type: 'text' as const, text: `Ranked by ${ranking}.` }] : [];
  return { content: [{ type: 'text', text }, ...note], details: { ...details, ranking } };
}

function asToolError({ code, message, cause }: MemoryFailure): ToolError {
  switch (code) {
    case 'unavailable':
      return new ToolError('unavailable', message, { retryable: true, cause });
    case 'quota_exceeded':
      return new ToolError('quota_exceeded', message, { retryable: false });
    case 'not_found':
    case 'conflict':
      return new ToolError('tool_failed', message);
    default:
      return code satisfies never;
  }
}
