import type { LuaScript } from '#redis';
import { JOB_NAME, JOB_OPTIONS } from './bull-settings.js';
import { MicroBatcher } from './micro-batcher.js';
import { dequeueKeys, keysOf, type QueueContext } from './queue-context.js';
import { addJobsScript, directDispatchScript, idleKeyOf } from './queue-scripts.js';

const MAX_BATCH = 500;
const STORED_OPTIONS = JSON.stringify(JOB_OPTIONS);

export interface NewJob {
  readonly id: string;
  readonly data: string;
  readonly priority: number;
  readonly tenant: string;
  /** True if the job may run again after its worker hangs. */
  readonly repeatable: boolean;
}

/** Target of new jobs: only the queue, or also idle workers with the same dequeue hook. */
export type AddMode =
  | { readonly kind: 'queue' }
  | { readonly kind: 'direct-dispatch'; readonly script: LuaScript; readonly idleKey: string };

export function addMode(context: QueueContext, dequeueHook: string | undefined): AddMode {
  if (dequeueHook === undefined) return { kind: 'queue' };
  return { kind: 'direct-dispatch', script: directDispatchScript(dequeueHook), idleKey: context.toKey(idleKeyOf(dequeueHook)) };
}

/**
 * Adds the jobs of a tick in one script.
 *
 * Invariant: only repeatable jobs are dispatched directly. A polling worker was alive a moment ago, a worker registered as idle
 * some seconds ago.
 */
export class BatchedAdds {
  private readonly batcher = new MicroBatcher<NewJob, string>((jobs) => this.run(jobs), MAX_BATCH, 'microtask');

  constructor(
    private readonly context: QueueContext,
    private readonly mode: AddMode,
  ) {}

  /** Resolves with the id of the job after Redis has stored it. */
  add(job: NewJob): Promise<string> {
    return this.batcher.add(job);
  }

  /** Resolves when everything added so far was answered. */
  idle(): Promise<void> {
    return this.batcher.idle();
  }

  private async run(jobs: readonly NewJob[]): Promise<string[]> {
    const { context, mode } = this;
    const args = jobs.flatMap((job) => [job.id, String(job.priority), job.data, job.tenant]);
    const all = [context.toKey(''), JOB_NAME, STORED_OPTIONS, String(Date.now()), ...args];
    if (mode.kind === 'direct-dispatch' && jobs.every(({ repeatable }) => repeatable))
      await mode.script.run(context.redis, [...dequeueKeys(context), mode.idleKey], all);
    else
      await addJobsScript.run(context.redis, [...keysOf(context, 'prioritized'), context.toKey('fair'), ...keysOf(context, 'marker')], all);
    return jobs.map((job) => job.id);
  }
}
