import type { JobJson } from 'bullmq';
import type { DequeueHookResult } from './dequeue-hook.js';
import { JOB_NAME, JOB_OPTIONS } from './bull-settings.js';

/** What BullMQ's Worker takes as "the next job": nothing, or the job, its id, a rate limit delay and a time to wait until. */
export type NextJob = [] | [job: JobJson, id: string, rateLimitDelay: 0, delayUntil: 0];

/** What complete-and-dequeue.lua answers: whether nothing is left, and the jobs. */
export function parseFetched(answer: unknown): [empty: boolean, jobs: NextJob[]] {
  if (!Array.isArray(answer)) throw new Error(`complete-and-dequeue.lua answered ${typeof answer}, expected a list.`);
  const jobs: NextJob[] = [];
  for (let i = 1; i < answer.length; i += 4)
    jobs.push(nextJob(String(answer[i]), String(answer[i + 1]), Number(answer[i + 2]), answer[i + 3]));
  return [answer[0] === 1, jobs];
}

/** What was said about the calls of jobs that have begun. */
export function parseClaims(jobs: readonly NextJob[], said: unknown): [id: string, answer: DequeueHookResult][] {
  const begun = jobs.flatMap(([job]) => (job === undefined || job.deferredFailure !== undefined ? [] : job.id));
  if (!Array.isArray(said)) return begun.map((id) => [id, { kind: 'lost' }]);
  const answers: readonly unknown[] = said;
  return begun.map((id, index) => [id, { kind: 'answered', shared: answers[0], own: answers[index + 1] }]);
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
