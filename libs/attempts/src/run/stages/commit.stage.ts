import { commitAttempt, type CommitResult, type FinishedAttempt } from '../../commit/commit-attempt.js';
import { howEnded } from '../../commit/decide-attempt.js';
import { isApplied } from '#event-log';
import { telemetry } from '#observability';
import type { AttemptRun, AttemptStage } from '../attempt-run.js';
import { NO_HOOKS } from '../call-hooks.js';
import type { ToolRunResult } from '../run-tool.js';

/** Stores large results, then writes End or Retry until Redis acknowledges it. Rejects if a forced shutdown comes first. */
export const commitStage: AttemptStage = {
  name: 'commit',
  async run(run) {
    const { attempt, claimed, decision, deps, feedback, hooks, result, runMs, toolResult } = run;
    const finished = {
      callId: attempt.callId,
      claimed,
      runMs,
      cpuMs: cpuMsOf(attempt),
      inputMs: deps.config.inputMs,
      how: howEnded(toolResult, attempt.abortInfo?.reason),
      ...(result ? { result } : {}),
      ...sizeFactsOf(toolResult),
      ...(feedback ? { feedback } : {}),
    };
    // Hooks after the End still occupy the slot of this attempt.
    const onEndSent = hooks === NO_HOOKS ? run.options.onEndSent : undefined;
    run.committed = await commitAttempt(finished, decision, run.writer, deps.blobs, deps.forcedShutdown, onEndSent);
    emitMetrics(run, run.committed);
  },
};

/** Size of the output according to its tool. */
function sizeFactsOf(run: ToolRunResult): Pick<FinishedAttempt, 'seenBytes' | 'readOn'> {
  if (run.kind !== 'output' || typeof run.output === 'string' || !('content' in run.output)) return {};
  const { seenBytes, readOn } = run.output;
  return { seenBytes, readOn };
}

/** Undefined if unknown. */
function cpuMsOf({ cpuMs }: AttemptRun['attempt']): number | undefined {
  return cpuMs === undefined || Number.isNaN(cpuMs) ? undefined : Math.round(cpuMs);
}

function emitMetrics({ attempt, claimed, deps, pool, runMs }: AttemptRun, committed: CommitResult): void {
  const { tool } = claimed.meta;
  const lost = committed.kind === 'nothing' || !isApplied(committed.answer);
  telemetry.attemptFinished.emit({
    tool,
    pool,
    runMs,
    cpuMs: cpuMsOf(attempt),
    ended: lost ? 'lost' : committed.kind === 'ended' ? 'end' : 'retry',
  });
  if (attempt.leaseLost) telemetry.leaseLost.emit({ tool });
  const { abortInfo } = attempt;
  if (!lost && committed.kind === 'ended' && committed.data.stopped && abortInfo?.reason === 'cancelled')
    telemetry.cancelled.emit({ tool, how: committed.data.stopped.how, tookMs: deps.clock.now() - abortInfo.at });
}
