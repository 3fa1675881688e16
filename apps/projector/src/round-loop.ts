import { setTimeout as sleep } from 'node:timers/promises';

export interface RoundLoopOptions {
  /** Named in the log of a shutdown. */
  readonly name: string;
  /** While it fails the process is not ready. */
  readonly isVital?: boolean;
  /** `true`: there is more to do at once. It ends after the step under way when the signal is aborted. */
  readonly round: (signal: AbortSignal) => Promise<unknown>;
  /** Time between two rounds where nothing is left to do, or where one failed. */
  readonly pauseMs: number;
  /** Called when a round failed; it is repeated. Not called for one that was stopped. */
  readonly onError: (error: unknown) => void;
}

/** Repeats a round until it is closed. */
export class RoundLoop {
  private readonly stopped = new AbortController();
  private running: Promise<void> | undefined;
  private lastFailure: string | undefined;

  constructor(private readonly options: RoundLoopOptions) {}

  get name(): string {
    return this.options.name;
  }

  /** Why the process is not ready: the last round of a vital loop failed. */
  get failure(): string | undefined {
    return this.options.isVital === true ? this.lastFailure : undefined;
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Waits for the step under way. Idempotent. Never rejects. */
  async close(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      const more = await this.round(signal);
      if (!more) await sleep(this.options.pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  private async round(signal: AbortSignal): Promise<boolean> {
    const { round, onError } = this.options;
    try {
      const more = (await round(signal)) === true;
      this.lastFailure = undefined;
      return more;
    } catch (error) {
      this.lastFailure = error instanceof Error ? error.message : String(error);
      if (!signal.aborted) onError(error);
      return false;
    }
  }
}
