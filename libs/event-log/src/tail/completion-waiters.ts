import { CALL_EVENT_TYPES, changesCall } from '#contracts';
import type { StoredEvent } from '../event-log.port.js';

export interface CompletionWaitOptions {
  /** Resolves also if the call requests input. */
  readonly orInput?: boolean | undefined;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** A wait for the End of a call. */
export interface CompletionWaiter {
  /**
   * Events of the call since the watch began, without Updates and Progress, End being the last. Undefined after the time-out, a
   * cancel, or a rollback of the log: the store has the state of the call. Never rejects.
   */
  readonly ended: Promise<readonly StoredEvent[] | undefined>;
  /** Ends the wait: `ended` resolves with undefined. No effect after the End. */
  cancel(): void;
}

/** Types that do not change a call and may be many. */
const PASSING: ReadonlySet<string> = new Set(CALL_EVENT_TYPES.filter((type) => !changesCall(type)));

interface PendingWaiter {
  readonly orInput: boolean;
  readonly events: StoredEvent[];
  settle(events: readonly StoredEvent[] | undefined): void;
}

/** All waits for an End, by call. Many thousands of them cost one map look-up an event. */
export class CompletionWaiters {
  private readonly waiters = new Map<string, Set<PendingWaiter>>();

  /** Registered when this returns: an event delivered afterwards is not missed. */
  add(callId: string, { timeoutMs, signal, orInput = false }: CompletionWaitOptions): CompletionWaiter {
    const cleanups: (() => void)[] = [];
    let settle: PendingWaiter['settle'] = () => {};
    const ended = new Promise<readonly StoredEvent[] | undefined>((resolve) => {
      settle = (events) => {
        for (const cleanup of cleanups.splice(0)) cleanup();
        resolve(events);
      };
    });
    const cancel = () => settle(undefined);
    const waiter: PendingWaiter = { events: [], settle, orInput };
    this.register(callId, waiter, cleanups);
    if (timeoutMs !== undefined) {
      const timer = setTimeout(cancel, timeoutMs);
      cleanups.push(() => clearTimeout(timer));
    }
    if (signal) {
      signal.addEventListener('abort', cancel, { once: true });
      cleanups.push(() => signal.removeEventListener('abort', cancel));
      if (signal.aborted) cancel();
    }
    return { ended, cancel };
  }

  route(event: StoredEvent): void {
    const waiting = this.waiters.get(event.callId);
    if (waiting === undefined || PASSING.has(event.type)) return;
    for (const waiter of waiting) {
      waiter.events.push(event);
      if (event.type === 'call.end') waiter.settle(waiter.events);
      else if (waiter.orInput && event.type === 'call.input_requested') waiter.settle(undefined);
    }
  }

  /** Resolves the waits for calls of this partition (without one, all) with undefined: their callers read the store. */
  resolveAll(partition?: string): void {
    for (const [callId, waiting] of this.waiters) {
      if (partition !== undefined && !callId.startsWith(`${partition}-`)) continue;
      for (const waiter of waiting) waiter.settle(undefined);
    }
  }

  get size(): number {
    return this.waiters.size;
  }

  private register(callId: string, waiter: PendingWaiter, cleanups: (() => void)[]): void {
    const waiting = this.waiters.get(callId) ?? new Set();
    waiting.add(waiter);
    this.waiters.set(callId, waiting);
    cleanups.push(() => {
      waiting.delete(waiter);
      if (waiting.size === 0 && this.waiters.get(callId) === waiting) this.waiters.delete(callId);
    });
  }
}
