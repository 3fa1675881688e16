import type { DequeueHookResult } from './dequeue-hook.js';
import type { NextJob } from './dequeued-jobs.js';

/**
 * The jobs that this worker has: those that its loops run, and those that were fetched ahead of them.
 *
 * When the Worker's loop polls, jobs for all its free slots are fetched, since the loop polls until the slots are full
 * before it does anything else.
 *
 * Invariants: `active` and `prefetched` are disjoint, and together never more than the slots, unless jobs of this worker are
 * found after a lost answer. A job that began (by the dequeue hook) is never given back; its result waits for its handler.
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

  /** From now on no job is fetched ahead. */
  stop(): void {
    this.phase = 'stopping';
  }

  /** How many slots are free when so many of the active jobs are done. */
  freeSlots(done: number): number {
    return this.slots - (this.active.size - done) - this.prefetched.length;
  }

  /** How many jobs to fetch for so many loops that want one; `ahead` when a loop polls, so that all slots are filled. */
  demand(loops: number, ahead: boolean): number {
    const extra = ahead ? Math.max(0, this.slots - this.active.size - 1) : 0;
    return Math.max(0, loops + extra - this.prefetched.length);
  }

  holds(id: string): boolean {
    return this.active.has(id) || this.prefetched.some(([, other]) => other === id);
  }

  /** A job that was fetched ahead, which is active from now on. */
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

  /** All jobs that were fetched ahead; the caller has them from now on. */
  takeAll(): NextJob[] {
    return this.prefetched.splice(0);
  }

  keepResults(results: readonly (readonly [id: string, result: DequeueHookResult])[]): void {
    for (const [id, result] of results) this.claimResults.set(id, result);
  }

  hasResult(id: string): boolean {
    return this.claimResults.has(id);
  }

  /** What the dequeue hook returned for a job. To be called once a job. */
  takeResult(id: string): DequeueHookResult | undefined {
    const result = this.claimResults.get(id);
    this.claimResults.delete(id);
    return result;
  }
}
