import { setTimeout as sleep } from 'node:timers/promises';
import type { LogGrowth } from '#event-log';

export interface RoundLoopOptions {
  /** Name in the log of a shutdown. */
  readonly name: string;
  /** True if a failure makes the process not ready. */
  readonly isVital?: boolean;
  /** Runs a round; `true`: there is more to do at once. An abort ends it after the step under way. */
  readonly round: (signal: AbortSignal) => Promise<unknown>;
  /** Time between two rounds if nothing is left to do, or one failed. */
  readonly pauseMs: number;
  /** Work that follows the log: after the pause the loop rests until the log grows, at most `mostMs`. Closed with the loop. */
  readonly rest?: { readonly growth: Pick<LogGrowth, 'mark' | 'grown' | 'close'>; readonly mostMs: number } | undefined;
  /** Called after a failed round, which is repeated. Not called for a stopped one. */
  readonly onFailure?: () => void;
  /** Called for the first failure, for one with another cause, and once a minute while the same persists. */
  readonly report: (error: unknown) => void;
  /** Clock, set by tests. */
  readonly now?: () => number;
}

const REPORT_AGAIN_MS = 60_000;

/** Repeats a round until it is closed. */
export class RoundLoop {
  private readonly stopped = new AbortController();
  private running: Promise<void> | undefined;
  private lastFailure: string | undefined;
  private reported: { readonly cause: string; readonly at: number } | undefined;

  constructor(private readonly options: RoundLoopOptions) {}

  get name(): string {
    return this.options.name;
  }

  /** Failure of the last round of a vital loop, which makes the process not ready. */
  get failure(): string | undefined {
    return this.options.isVital === true ? this.lastFailure : undefined;
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Waits for the step under way. Idempotent. Never rejects. */
  async close(): Promise<void> {
    this.stopped.abort();
    this.options.rest?.growth.close();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopped;
    const { pauseMs, rest } = this.options;
    while (!signal.aborted) {
      const more = await this.round(signal);
      if (more) continue;
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      if (this.lastFailure === undefined) await rest?.growth.grown(rest.mostMs, signal);
    }
  }

  private async round(signal: AbortSignal): Promise<boolean> {
    const { round, rest } = this.options;
    try {
      // Before the round: events that come meanwhile end the rest after it.
      if (rest !== undefined) await rest.growth.mark();
      const more = (await round(signal)) === true;
      this.lastFailure = undefined;
      this.reported = undefined;
      return more;
    } catch (error) {
      this.lastFailure = error instanceof Error ? error.message : String(error);
      if (!signal.aborted) this.failed(error, this.lastFailure);
      return false;
    }
  }

  /** Reports failures with a limit: a store that is full for an hour fails 3,600 times, each time at another file. */
  private failed(error: unknown, message: string): void {
    const { onFailure, report, now = () => performance.now() } = this.options;
    onFailure?.();
    const cause = error instanceof Error && 'code' in error ? String(error.code) : message;
    const at = now();
    if (this.reported?.cause === cause && at < this.reported.at + REPORT_AGAIN_MS) return;
    this.reported = { cause, at };
    report(error);
  }
}
