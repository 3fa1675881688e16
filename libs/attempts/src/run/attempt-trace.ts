import type { CommitResult } from '../commit/commit-attempt.js';
import type { Pool } from '#contracts';
import type { Claimed } from '#event-log';
import type { StageTrace } from '#observability';

/** Spans of one attempt, and of those of its stages that wait: the others take microseconds. */
export interface AttemptTrace extends StageTrace<unknown> {
  /** Ends the span; `committed` is undefined if nothing was committed. Idempotent. */
  end(committed: CommitResult | undefined): void;
}

/** Opens the trace of an attempt after its claim. */
export interface AttemptTraceSource {
  start(callId: string, claimed: Claimed, pool: Pool): AttemptTrace;
}
