import { SwapRemoveList } from '#attempts';
import type { ToolEffect } from '#contracts';
import type { Attempt } from './attempt.js';

/** The attempts of this process. An attempt is here from before its claim, so that a cancel that overtakes the claim's answer is not missed. */
export class InFlightAttempts {
  private readonly attempts = new SwapRemoveList<Attempt>();
  private idleWaiters: (() => void)[] = [];
  private requeuing = false;

  get size(): number {
    return this.attempts.size;
  }

  add(attempt: Attempt): void {
    this.attempts.add(attempt);
  }

  delete(attempt: Attempt): void {
    this.attempts.delete(attempt);
    if (this.attempts.size > 0) return;
    const waiters = this.idleWaiters;
    this.idleWaiters = [];
    for (const resolve of waiters) resolve();
  }

  /** A claim was granted. While calls are handed back, this one goes back before its tool begins. */
  onClaimed(attempt: Attempt, facts: { readonly fence: number; readonly effect: ToolEffect }): void {
    attempt.claimed = facts;
    if (this.requeuing) attempt.abort('drained');
  }

  /** Stops what may be run again elsewhere, now and from now on. */
  requeueAll(): void {
    this.requeuing = true;
    for (const attempt of this.attempts.all()) {
      if (attempt.claimed && attempt.claimed.effect !== 'once' && !attempt.finishing) attempt.abort('drained');
    }
  }

  abortAll(): void {
    this.requeuing = true;
    for (const attempt of this.attempts.all()) if (!attempt.finishing) attempt.abort('drained');
  }

  all(): Attempt[] {
    return this.attempts.all();
  }

  /** There may be two for a moment: one that lost its lease and is being given up, and its successor. */
  byCallId(callId: string): Attempt[] {
    return this.all().filter((attempt) => attempt.callId === callId);
  }

  /** Resolves when nothing runs, at once if nothing does. */
  idle(): Promise<void> {
    if (this.attempts.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }
}
