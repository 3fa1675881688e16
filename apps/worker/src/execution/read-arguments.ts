import type { SubmittedData } from '#contracts';
import type { BlobStore } from '#event-log';
import { ToolFailure } from '#tools';

/** The arguments as the gateway checked and completed them. Rejects with a ToolFailure when what lives beside the log is gone. */
export async function readArguments(
  callId: string,
  submitted: SubmittedData,
  blobs: Pick<BlobStore, 'get'>,
): Promise<Readonly<Record<string, unknown>>> {
  if (!submitted.argumentsRef) return asRecord(submitted.arguments ?? {});
  const bytes = await blobs.get(callId, submitted.argumentsRef.ref);
  if (!bytes)
    throw new ToolFailure('internal', 'The arguments of the call are not stored any more. Submit the call again.', { retryable: false });
  return asRecord(JSON.parse(bytes.toString('utf8')));
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ToolFailure('invalid_arguments', 'Invalid arguments: expected an object', { retryable: false });
  }
  return { ...value };
}
