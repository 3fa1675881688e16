import type { CallJob } from '#contracts';
import type { DequeueClaim, Claimed, EventLogWriter, WorkerIdentity } from '#event-log';

/** Answer for a job that is late or a duplicate. `retryInMs`: the job came too early, and the call is due after this time. */
export interface NotClaimed {
  readonly code: string;
  readonly retryInMs?: number;
}

/** Pauses between look-ups of a call that is not found. After the last one the call counts as never accepted. */
const NOT_FOUND_RETRY_MS = [1, 5, 25, 100];

/**
 * Looks up the call of a job. Redis may read a job a moment before the accept of its call, which is written on another
 * connection, and later still if the script must be loaded first.
 */
export async function lookUpAccepted<T>(
  look: () => Promise<T>,
  isFound: (answer: T) => boolean,
  wait: (ms: number) => Promise<void>,
): Promise<T> {
  let answer = await look();
  for (const ms of NOT_FOUND_RETRY_MS) {
    if (isFound(answer)) break;
    await wait(ms);
    answer = await look();
  }
  return answer;
}

/**
 * Claims the attempt of a job. `dequeueClaim` is the claim that ran when the job was dequeued, which saves the round trip.
 *
 * @throws EventLogUnavailable while Redis is unreachable
 */
export async function claimAttempt(
  { callId, attempt }: CallJob,
  identity: WorkerIdentity & { readonly token?: string },
  log: Pick<EventLogWriter, 'claim'>,
  wait: (ms: number) => Promise<void>,
  dequeueClaim?: DequeueClaim,
): Promise<Claimed | NotClaimed> {
  let ofDequeue = dequeueClaim;
  const claim = () => {
    const claimed = log.claim({ callId, attempt, ...identity }, ofDequeue);
    ofDequeue = undefined;
    return claimed;
  };
  const answer = await lookUpAccepted(claim, ({ code }) => code !== 'NOT_FOUND', wait);
  if ('submitted' in answer) return answer;
  return { code: answer.code, ...(answer.code === 'NOT_DUE' ? { retryInMs: answer.retryInMs } : {}) };
}
