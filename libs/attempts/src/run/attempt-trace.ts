import type { CommitResult } from '../commit/commit-attempt.js';
import type { Pool } from '#contracts';
import type { Claimed } from '#event-log';

/** Spans of one attempt. */
export interface AttemptTrace {
  /** Parent of spans that the tool starts elsewhere. */
  readonly traceparent: string;
  /**
   * Runs a stage in the span of the attempt, and records a span for a stage that waits: the others take microseconds.
   */
  runStage(name: string, run: () => void | Promise<void>): void | Promise<void>;
  /** Ends the span; `committed` is undefined if nothing was committed. Idempotent. */
  end(committed: CommitResult | undefined): void;
}

/** Opens the trace of an attempt after its claim. */
export interface AttemptTraceSource {
  start(callId: string, claimed: Claimed, pool: Pool): AttemptTrace;
}
