import { CALL_EVENT_TYPES, changesCall } from '#contracts';
import type { StoredEvent } from '../event-log.port.js';

export interface CompletionWaitOptions {
  /** Resolves also when the call asks for input. */
  readonly orInput?: boolean | undefined;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** A wait for the End of a call. */
export interface CompletionWaiter {
  /**
   * The call's events since the watch began, without Updates and Progress, End being the last. Undefined when the time
   * was up, the caller gave up, or the log was rolled back: the store knows how the call is. Never rejects.
   */
  readonly ended: Promise<readonly StoredEvent[] | undefined>;
  /** Gives up; `ended` resolves with undefined. Harmless afterwards. */
  cancel(): void;
}

/** They change nothing of a call, and may be many. */
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

  /** Sends those who wait for calls of this partition (all without one) to look at the store. */
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
