import type { InputRequestedData, RetryData, SuspensionState } from '#contracts';
import { EventLogTenantFull, type BlobStore, type Claimed, type SuspensionRef } from '#event-log';
import { sha256Hex } from '#redis';
import type { ForcedShutdown } from '../forced-shutdown.js';
import type { RetriedAttempt, SuspensionRequest } from './attempt-result.js';
import { StateNotStored, type AttemptWriter } from './attempt-writer.js';

/** The End of a child wakes its parent. Should that be lost, the parent looks itself, less often the longer it takes: few looks, and never late by much. */
const LOOK_SHARE = 0.25;
const LEAST_LOOK_MS = 15_000;
const LONGEST_LOOK_MS = 600_000;

/** A call may end a little after its time. */
const SLACK_MS = 600_000;

export interface SuspendedAttempt {
  readonly callId: string;
  readonly claimed: Claimed;
  /** How long the call waits for input without which it ends. */
  readonly inputMs: number;
}

/**
 * Stores the state of the tool, then writes the event that suspends the call. Undefined when the log refused it: then a
 * cancel came first. @throws StateNotStored when Redis, or the tenant, has no room for the state
 */
export async function commitSuspension(
  { callId, claimed, inputMs }: SuspendedAttempt,
  asked: SuspensionRequest,
  writer: AttemptWriter,
  blobs: Pick<BlobStore, 'put' | 'delete'>,
  shutdown: ForcedShutdown,
): Promise<RetriedAttempt | undefined> {
  const nextAttempt = claimed.attempt + 1;
  const request = asked.until === 'children' ? { ...asked, resumeInMs: asked.resumeInMs ?? lookAfterMs(claimed) } : asked;
  const { state, bytes } = stateOf(request, claimed.attempt);
  const data = eventData(request, nextAttempt, inputMs, state);
  const leftMs = claimed.submittedAt + claimed.submitted.timeouts.totalMs - claimed.time + SLACK_MS;
  const store = async () => {
    if (bytes === undefined) return;
    await blobs.put(callId, suspensionRef(claimed.attempt), bytes, Math.ceil(leftMs / 1_000)).catch((error: unknown) => {
      throw error instanceof Error && error.message.startsWith('OOM') ? new StateNotStored() : error;
    });
  };
  const answer = await writer.suspend(data, shutdown, store).catch(async (error: unknown) => {
    if (!(error instanceof EventLogTenantFull)) throw error;
    await blobs.delete(callId, suspensionRef(claimed.attempt)).catch(() => {});
    throw new StateNotStored();
  });
  if (answer.code === 'BAD_TRANSITION') return undefined;
  const reported = 'reason' in data ? data : { reason: 'suspended' as const, nextAttempt, delayMs: request.resumeInMs ?? inputMs };
  return { kind: 'retried', data: reported, nextAttempt, delayMs: request.resumeInMs, answer };
}

function lookAfterMs({ time, firstStartedAt }: Claimed): number {
  return Math.round(Math.min(LONGEST_LOOK_MS, Math.max(LEAST_LOOK_MS, (time - firstStartedAt) * LOOK_SHARE)));
}

function eventData(
  { until, resumeInMs, prompt, inputSchema, sampling, declinable }: SuspensionRequest,
  nextAttempt: number,
  inputMs: number,
  state: SuspensionState | undefined,
): RetryData | InputRequestedData {
  const kept = state === undefined ? {} : { state };
  if (until !== 'input')
    return { reason: 'suspended', nextAttempt, delayMs: resumeInMs ?? 0, ...(until === 'children' ? { until } : {}), ...kept };
  return {
    ...(prompt === undefined ? {} : { prompt }),
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(sampling === undefined ? {} : { sampling }),
    ...(declinable === undefined ? {} : { declinable }),
    nextAttempt,
    ...(resumeInMs === undefined ? { expiresInMs: inputMs } : { resumeInMs }),
    ...kept,
  };
}

function stateOf({ state }: SuspensionRequest, attempt: number): { state?: SuspensionState; bytes?: Buffer } {
  if (state === undefined) return {};
  const bytes = Buffer.from(state);
  return { bytes, state: { ref: suspensionRef(attempt), sha256: sha256Hex(bytes), bytes: bytes.byteLength } };
}

/** By attempt: the state of the suspension before is still there when the new one is refused. */
function suspensionRef(attempt: number): SuspensionRef {
  return `suspension.${attempt}`;
}
