import { z } from 'zod';
import { argumentRefs, type BlobStore, type ClaimedSubmission } from '#event-log';
import { ToolError } from '#tool-sdk';

export interface LoadedArguments {
  /** Arguments for the tool. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Value that an approval covers: the arguments, with a salt if they contain secrets that could be guessed from a digest. */
  readonly approved: unknown;
}

const SaltedArguments = z.object({ salt: z.string(), arguments: z.record(z.string(), z.unknown()) });

/**
 * Loads the arguments as checked and completed by the gateway, including secrets. Rejects with a ToolError if a value stored
 * beside the log is missing.
 */
export async function loadArguments(callId: string, submitted: ClaimedSubmission, blobs: Pick<BlobStore, 'get'>): Promise<LoadedArguments> {
  if (submitted.argumentsRedacted) {
    const approved = SaltedArguments.parse(await stored(callId, argumentRefs(submitted).secret, blobs));
    return { args: approved.arguments, approved };
  }
  const args = await loadRedactedArguments(callId, submitted, blobs);
  return { args, approved: args };
}

/** Loads the arguments for readers, with placeholders for secrets. Rejects like `loadArguments`. */
export async function loadRedactedArguments(
  callId: string,
  submitted: ClaimedSubmission,
  blobs: Pick<BlobStore, 'get'>,
): Promise<Readonly<Record<string, unknown>>> {
  const { argumentsRef, arguments: inline } = submitted;
  return asRecord(argumentsRef ? await stored(callId, argumentRefs(submitted).shown, blobs) : (inline ?? {}));
}

async function stored(callId: string, ref: Parameters<BlobStore['get']>[1], blobs: Pick<BlobStore, 'get'>): Promise<unknown> {
  const bytes = await blobs.get(callId, ref);
  if (!bytes)
    throw new ToolError('internal', 'The arguments of the call are not stored any more. Submit the call again.', { retryable: false });
  return JSON.parse(bytes.toString('utf8'));
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ToolError('invalid_arguments', 'Invalid arguments: expected an object', { retryable: false });
  }
  return { ...value };
}
