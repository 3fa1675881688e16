import { IDLE_POLL_S } from './bull-settings.js';

/** Lifetime of a registration: a little longer than an idle Worker blocks before it polls again. */
const TTL_MS = IDLE_POLL_S * 1_000 + 5_000;

/** Codes of dequeue-or-register.lua for the registration of a worker. */
export const REGISTRATION = { none: 0, registered: 1, wasGone: 2 } as const;

/**
 * - `none`: not registered.
 * - `registered`: under this number, as far as the worker knows.
 * - `pendingMatch`: this registration is gone, and the message with its jobs has not come.
 */
type State =
  | { readonly kind: 'none' }
  | { readonly kind: 'registered'; readonly number: number }
  | { readonly kind: 'pendingMatch'; readonly number: number; readonly settled: Promise<void>; readonly settle: () => void };

const NONE: State = { kind: 'none' };

/**
 * Registration of an idle worker, to which producers dispatch jobs directly.
 *
 * Invariants: a registration is consumed once, by one message for all its jobs. The worker numbers its registrations, as
 * the answers of scripts and the messages of producers come on two connections, in any order.
 */
export class IdleRegistration {
  private state: State = NONE;
  private newest = 0;
  /** Highest number whose message came. */
  private consumedUpTo = 0;

  get newestNumber(): number {
    return this.newest;
  }

  /** Resolves when no message is outstanding; undefined if none is. */
  get pendingMatch(): Promise<void> | undefined {
    return this.state.kind === 'pendingMatch' ? this.state.settled : undefined;
  }

  /** ARGV[1..4] of dequeue-or-register.lua, and the number of the registration that it may make. */
  next(freeSlots: number): { readonly number: number; readonly args: readonly string[] } {
    const number = ++this.newest;
    return { number, args: [this.state.kind === 'registered' ? '1' : '0', String(freeSlots), String(number), String(TTL_MS)] };
  }

  /** Handles the answer `code` of the script with this number. Returns true if a message is outstanding from now on. */
  answered(number: number, code: unknown): boolean {
    const before = this.state;
    if (before.kind === 'pendingMatch') return false;
    if (code === REGISTRATION.wasGone && before.kind === 'registered') {
      this.state = pending(before.number);
      return true;
    }
    // The message of this registration may have been faster than the answer.
    this.state = code === REGISTRATION.registered && number > this.consumedUpTo ? { kind: 'registered', number } : NONE;
    return false;
  }

  /** Handles the message with the jobs of this registration. */
  consumed(number: number): void {
    this.consumedUpTo = Math.max(this.consumedUpTo, number);
    if (this.state.kind !== 'none' && number >= this.state.number) this.clear();
  }

  /** Clears the registration, which was deleted after all of its jobs became known. */
  revoked(): void {
    this.clear();
  }

  private clear(): void {
    const before = this.state;
    this.state = NONE;
    if (before.kind === 'pendingMatch') before.settle();
  }
}

function pending(number: number): State {
  let settle = () => {};
  const settled = new Promise<void>((resolve) => (settle = resolve));
  return { kind: 'pendingMatch', number, settled, settle };
}
