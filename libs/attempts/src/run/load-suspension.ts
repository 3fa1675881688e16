import { Json, type JsonValue, type SuspensionState } from '#contracts';
import { suspensionBlob, type BlobStore, type ResumedFrom } from '#event-log';
import { sha256Hex } from '#redis';
import { ToolError, type Resumed } from '#tool-sdk';

/** Loads state and input of the last suspension for the tool. Rejects with a ToolError if a stored value is missing. */
export async function loadSuspension(
  callId: string,
  { reason, state, input }: ResumedFrom,
  blobs: Pick<BlobStore, 'get'>,
): Promise<Resumed> {
  const load = (reference: SuspensionState | undefined) => (reference === undefined ? undefined : storedValue(callId, reference, blobs));
  const [loadedState, loadedInput] = await Promise.all([load(state), load(input?.stored)]);
  return {
    reason,
    ...(loadedState === undefined ? {} : { state: loadedState }),
    ...(input === undefined ? {} : input.declined === true ? { declined: true } : { input: loadedInput ?? input.value ?? null }),
  };
}

async function storedValue(callId: string, reference: SuspensionState, blobs: Pick<BlobStore, 'get'>): Promise<JsonValue> {
  const bytes = await blobs.get(callId, suspensionBlob(reference));
  if (bytes === undefined || sha256Hex(bytes) !== reference.sha256)
    throw new ToolError('internal', 'State or input of the suspended call is not stored any more. Submit the call again.', {
      retryable: false,
    });
  return Json.parse(JSON.parse(bytes.toString('utf8')));
}
