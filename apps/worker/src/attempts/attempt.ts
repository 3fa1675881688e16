import type { AbortReason } from '#attempts';
import type { ToolEffect } from '#contracts';
import { ToolFailure } from '#tool-sdk';
import type { Clock } from '../platform/clock.js';

export interface Stop {
  readonly cause: AbortReason;
  /** By the monotonic clock. */
  readonly at: number;
}

/** Of the time until an attempt is given up, tools get this part to stop by themselves; the rest is for the kill to show. */
const TOOL_SHARE = 0.8;

const MESSAGES: Readonly<Record<AbortReason, readonly ['run_timeout' | 'cancelled' | 'worker_lost', string]>> = {
  run_timeout: ['run_timeout', 'The call ran longer than allowed.'],
  cancelled: ['cancelled', 'Cancelled'],
  drained: ['worker_lost', 'The worker is shutting down.'],
  lease_lost: ['worker_lost', 'The worker lost its claim on the call.'],
};

/**
 * One run of a call in this process, from before the claim until nothing more is written about it. Cancel, run deadline,
 * drain and a lost lease are all the same thing: `stop`. The first one counts, except that `lease_lost` always does.
 */
export class Attempt {
  /** Made when somebody asks for the signal: most tools are over before they would look at it. */
  private controller: AbortController | undefined;
  private giveUp: () => void = () => {};
  private stopAsked: (Stop & { readonly failure: ToolFailure }) | undefined;
  private callOffGiveUp: (() => void) | undefined;
  private toolGraceMs: number;
  /** Known once the claim is granted. */
  claimed: { readonly fence: number; readonly effect: ToolEffect } | undefined;
  /** The tool has returned: what is left is to write it down. */
  finishing = false;
  /** Resolves when the tool was told to stop and its time for that is over. */
  readonly givenUp = new Promise<void>((resolve) => (this.giveUp = resolve));

  constructor(
    readonly callId: string,
    private readonly clock: Clock,
    private readonly stopGraceMs: number,
  ) {
    this.toolGraceMs = Math.floor(stopGraceMs * TOOL_SHARE);
  }

  /** Aborted by the first `stop`; the reason is a ToolFailure. */
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.stopAsked) this.controller.abort(this.stopAsked.failure);
    }
    return this.controller.signal;
  }

  throwIfStopped(): void {
    if (this.stopAsked) throw this.stopAsked.failure;
  }

  /** Milliseconds a tool has between the abort and its own kill; settled once `signal` is aborted. */
  get graceMs(): number {
    return this.toolGraceMs;
  }

  get stopped(): Stop | undefined {
    return this.stopAsked;
  }

  get lost(): boolean {
    return this.stopAsked?.cause === 'lease_lost';
  }

  stop(cause: AbortReason, graceMs = this.stopGraceMs): void {
    const first = this.stopAsked === undefined;
    if (!first && (cause !== 'lease_lost' || this.lost)) return;
    const [code, message] = MESSAGES[cause];
    const failure = this.stopAsked?.failure ?? new ToolFailure(code, message);
    this.stopAsked = { cause, at: this.stopAsked?.at ?? this.clock.now(), failure };
    if (!first) return;
    this.toolGraceMs = Math.floor(graceMs * TOOL_SHARE);
    this.callOffGiveUp = this.clock.after(graceMs, () => this.giveUp());
    this.controller?.abort(failure);
  }

  /** Idempotent. */
  close(): void {
    this.callOffGiveUp?.();
  }
}
