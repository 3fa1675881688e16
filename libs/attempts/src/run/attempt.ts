import type { AbortReason } from '../commit/attempt-result.js';
import type { ToolEffect } from '#contracts';
import { ToolError } from '#tool-sdk';
import type { Clock } from '../clock.js';

export interface AbortInfo {
  readonly reason: AbortReason;
  /** Time of the abort, by the monotonic clock. */
  readonly at: number;
}

/** Share of the grace in which a tool may end by itself. The rest is for a kill to take effect. */
const TOOL_SHARE = 0.8;

const MESSAGES: Readonly<Record<AbortReason, readonly ['run_timeout' | 'cancelled' | 'worker_lost', string]>> = {
  run_timeout: ['run_timeout', 'The call ran longer than allowed.'],
  cancelled: ['cancelled', 'Cancelled'],
  drained: ['worker_lost', 'The worker is shutting down.'],
  lease_lost: ['worker_lost', 'The worker lost its claim on the call.'],
};

/**
 * Run of a call in this process, from before its claim until its last event. Cancel, run deadline, drain and a lost lease all
 * call `abort`. The first reason counts, except that `lease_lost` always replaces it.
 */
export class Attempt {
  /** Created at the first read of `signal`: most tools never read it. */
  private controller: AbortController | undefined;
  private expireGrace: () => void = () => {};
  private abortState: (AbortInfo & { readonly failure: ToolError }) | undefined;
  private cancelGraceTimer: (() => void) | undefined;
  private toolGraceMs: number;
  /** Set after the claim is granted. */
  claimed: { readonly fence: number; readonly effect: ToolEffect } | undefined;
  /** The tool has ended; only the commit is pending. */
  finishing = false;
  /** CPU time of the programs that the tool ran, ms: undefined for no program, NaN if one is unknown. */
  cpuMs: number | undefined;
  /** Resolves at the end of the tool's grace after an abort. */
  readonly graceExpired = new Promise<void>((resolve) => (this.expireGrace = resolve));

  constructor(
    readonly callId: string,
    private readonly clock: Clock,
    private readonly stopGraceMs: number,
  ) {
    this.toolGraceMs = Math.floor(stopGraceMs * TOOL_SHARE);
  }

  /** Aborted by the first `abort`; the reason is a ToolError. */
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.abortState) this.controller.abort(this.abortState.failure);
    }
    return this.controller.signal;
  }

  throwIfAborted(): void {
    if (this.abortState) throw this.abortState.failure;
  }

  /** Milliseconds between the abort and the kill of the tool. Fixed once `signal` is aborted. */
  get graceMs(): number {
    return this.toolGraceMs;
  }

  get abortInfo(): AbortInfo | undefined {
    return this.abortState;
  }

  get leaseLost(): boolean {
    return this.abortState?.reason === 'lease_lost';
  }

  abort(reason: AbortReason, graceMs = this.stopGraceMs): void {
    const first = this.abortState === undefined;
    if (!first && (reason !== 'lease_lost' || this.leaseLost)) return;
    const [code, message] = MESSAGES[reason];
    const failure = this.abortState?.failure ?? new ToolError(code, message);
    this.abortState = { reason, at: this.abortState?.at ?? this.clock.now(), failure };
    if (!first) return;
    this.toolGraceMs = Math.floor(graceMs * TOOL_SHARE);
    this.cancelGraceTimer = this.clock.after(graceMs, () => this.expireGrace());
    this.controller?.abort(failure);
  }

  /** Idempotent. */
  close(): void {
    this.cancelGraceTimer?.();
  }
}
