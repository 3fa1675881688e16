import type { DequeueHookResult } from './dequeue-hook.js';
import type { NextJob } from './dequeued-jobs.js';

/**
 * Jobs of this worker: those that its loops run, and prefetched ones.
 *
 * When the Worker's loop polls, jobs for all its free slots are fetched, since the loop polls until the slots are full
 * before it does anything else.
 *
 * Invariants: `active` and `prefetched` are disjoint, and together never more than the slots, unless jobs of this worker are
 * found after a lost answer. A job that the dequeue hook has begun is never requeued; its result waits for its handler.
 */
export class JobPrefetcher {
  private readonly active = new Set<string>();
  private prefetched: NextJob[] = [];
  private readonly claimResults = new Map<string, DequeueHookResult>();
  private phase: 'running' | 'stopping' = 'running';

  constructor(private slots: number) {}

  get isStopping(): boolean {
    return this.phase === 'stopping';
  }

  get activeIds(): ReadonlySet<string> {
    return this.active;
  }

  get hasPrefetched(): boolean {
    return this.prefetched.length > 0;
  }

  setSlots(slots: number): void {
    this.slots = slots;
  }

  /** Stops prefetching. */
  stop(): void {
    this.phase = 'stopping';
  }

  /** Number of free slots after `done` of the active jobs have ended. */
  freeSlots(done: number): number {
    return this.slots - (this.active.size - done) - this.prefetched.length;
  }

  /** Number of jobs to fetch for `loops` waiting loops; with `ahead` (a loop polls) enough to fill all slots. */
  demand(loops: number, ahead: boolean): number {
    const extra = ahead ? Math.max(0, this.slots - this.active.size - 1) : 0;
    return Math.max(0, loops + extra - this.prefetched.length);
  }

  holds(id: string): boolean {
    return this.active.has(id) || this.prefetched.some(([, other]) => other === id);
  }

  /** Activates and returns a prefetched job. */
  next(): NextJob | undefined {
    const job = this.prefetched.shift();
    return job && this.activate(job);
  }

  activate(job: NextJob): NextJob {
    if (job[1] !== undefined) this.active.add(job[1]);
    return job;
  }

  completed(ids: readonly string[]): void {
    for (const id of ids) this.active.delete(id);
  }

  prefetch(jobs: readonly NextJob[]): void {
    this.prefetched.push(...jobs);
  }

  /** Removes and returns all prefetched jobs. */
  takeAll(): NextJob[] {
    return this.prefetched.splice(0);
  }

  keepResults(results: readonly (readonly [id: string, result: DequeueHookResult])[]): void {
    for (const [id, result] of results) this.claimResults.set(id, result);
  }

  hasResult(id: string): boolean {
    return this.claimResults.has(id);
  }

  /** Removes and returns the result of the dequeue hook for a job. */
  takeResult(id: string): DequeueHookResult | undefined {
    const result = this.claimResults.get(id);
    this.claimResults.delete(id);
    return result;
  }
}
