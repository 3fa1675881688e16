import type { JobJson } from 'bullmq';
import type { DequeueHookResult } from './dequeue-hook.js';
import { JOB_NAME, JOB_OPTIONS } from './bull-settings.js';

/** The next job in the form of BullMQ's Worker: nothing, or the job, its id, a rate limit delay and a time to wait until. */
export type NextJob = [] | [job: JobJson, id: string, rateLimitDelay: 0, delayUntil: 0];

/** Parses the answer of complete-and-dequeue.lua: a flag that nothing is left, and the jobs. */
export function parseFetched(answer: unknown): [empty: boolean, jobs: NextJob[]] {
  if (!Array.isArray(answer)) throw new Error(`complete-and-dequeue.lua answered ${typeof answer}, expected a list.`);
  const jobs: NextJob[] = [];
  for (let i = 1; i < answer.length; i += 4)
    jobs.push(nextJob(String(answer[i]), String(answer[i + 1]), Number(answer[i + 2]), answer[i + 3]));
  return [answer[0] === 1, jobs];
}

/** Pairs the answers of the dequeue hook with the jobs that have begun. */
export function parseClaims(jobs: readonly NextJob[], hookAnswers: unknown): [id: string, answer: DequeueHookResult][] {
  const startedIds = jobs.flatMap(([job]) => (job === undefined || job.deferredFailure !== undefined ? [] : job.id));
  if (!Array.isArray(hookAnswers)) return startedIds.map((id) => [id, { kind: 'lost' }]);
  const answers: readonly unknown[] = hookAnswers;
  return startedIds.map((id, index) => [id, { kind: 'answered', shared: answers[0], own: answers[index + 1] }]);
}

export function nextJob(id: string, data: string, timestamp: number, deferredFailure: unknown): NextJob {
  const job: JobJson = {
    id,
    name: JOB_NAME,
    data,
    opts: JOB_OPTIONS,
    progress: 0,
    attemptsMade: 0,
    attemptsStarted: 1,
    stalledCounter: 0,
    timestamp,
    processedOn: Date.now(),
    failedReason: 'null',
    returnvalue: 'null',
    ...(typeof deferredFailure === 'string' ? { deferredFailure } : {}),
  };
  return [job, id, 0, 0];
}
