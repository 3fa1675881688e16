import type { InputRequestedData, RetryData, SuspensionState } from '#contracts';
import { EventLogTenantFull, type BlobStore, type Claimed, type SuspensionRef } from '#event-log';
import { sha256Hex } from '#redis';
import type { ForcedShutdown } from '../forced-shutdown.js';
import type { RetriedAttempt, SuspensionRequest } from './attempt-result.js';
import { StateNotStored, type AttemptWriter } from './attempt-writer.js';

/**
 * Share of the time since the first start after which a parent checks its children, in case the wake-up by an End was lost:
 * checks become rarer, and are never late by much.
 */
const LOOK_SHARE = 0.25;
const LEAST_LOOK_MS = 15_000;
const LONGEST_LOOK_MS = 600_000;

/** Time after its deadline in which a call may still end. */
const SLACK_MS = 600_000;

export interface SuspendedAttempt {
  readonly callId: string;
  readonly claimed: Claimed;
  /** Longest wait for input without which the call ends. */
  readonly inputMs: number;
}

/**
 * Stores the state of the tool, then writes the event that suspends the call. Undefined if the log rejected it because of a
 * cancel. @throws StateNotStored if Redis, or the tenant, has no room for the state
 */
export async function commitSuspension(
  { callId, claimed, inputMs }: SuspendedAttempt,
  original: SuspensionRequest,
  writer: AttemptWriter,
  blobs: Pick<BlobStore, 'put' | 'delete'>,
  shutdown: ForcedShutdown,
): Promise<RetriedAttempt | undefined> {
  const nextAttempt = claimed.attempt + 1;
  const request = original.until === 'children' ? { ...original, resumeInMs: original.resumeInMs ?? lookAfterMs(claimed) } : original;
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
  const stateMember = state === undefined ? {} : { state };
  if (until !== 'input')
    return { reason: 'suspended', nextAttempt, delayMs: resumeInMs ?? 0, ...(until === 'children' ? { until } : {}), ...stateMember };
  return {
    ...(prompt === undefined ? {} : { prompt }),
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(sampling === undefined ? {} : { sampling }),
    ...(declinable === undefined ? {} : { declinable }),
    nextAttempt,
    ...(resumeInMs === undefined ? { expiresInMs: inputMs } : { resumeInMs }),
    ...stateMember,
  };
}

function stateOf({ state }: SuspensionRequest, attempt: number): { state?: SuspensionState; bytes?: Buffer } {
  if (state === undefined) return {};
  const bytes = Buffer.from(state);
  return { bytes, state: { ref: suspensionRef(attempt), sha256: sha256Hex(bytes), bytes: bytes.byteLength } };
}

/** Name by attempt, so that the previous state survives a rejected suspension. */
function suspensionRef(attempt: number): SuspensionRef {
  return `suspension.${attempt}`;
}
