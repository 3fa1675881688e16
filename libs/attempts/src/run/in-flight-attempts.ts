import { SwapRemoveList } from '../swap-remove-list.js';
import type { ToolEffect } from '#contracts';
import type { Attempt } from './attempt.js';

/** Attempts of this process. An attempt is added before its claim, since a cancel may arrive before the answer of the claim. */
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

  /** Called after a granted claim. During a drain the attempt is requeued before its tool starts. */
  onClaimed(attempt: Attempt, facts: { readonly fence: number; readonly effect: ToolEffect }): void {
    attempt.claimed = facts;
    if (this.requeuing) attempt.abort('drained');
  }

  /** Aborts attempts of calls that may run again on another worker, now and from now on. */
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

  /** Attempts of a call; briefly two: an aborted attempt that lost its lease, and its successor. */
  byCallId(callId: string): Attempt[] {
    return this.all().filter((attempt) => attempt.callId === callId);
  }

  /** Resolves when no attempt is in flight. */
  idle(): Promise<void> {
    if (this.attempts.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }
}
