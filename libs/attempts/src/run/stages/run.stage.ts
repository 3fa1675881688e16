import { type AttemptRun, type AttemptStage, runAttemptStages } from '../attempt-run.js';
import { NO_HOOKS } from '../call-hooks.js';
import { runTool, type ToolRunResult } from '../run-tool.js';

/**
 * Runs the stages up to the tool under the run deadline. Never rejects: a failed stage, an abort, and a tool that exceeds its
 * grace become the `toolResult`. Afterwards the output is complete.
 */
export function runStage(stages: readonly AttemptStage[]): AttemptStage {
  return {
    name: 'run',
    async run(run) {
      const { attempt, deps, hooks } = run;
      run.startedAt = deps.clock.now();
      run.toolResult = hooks.unavailable ?? (await underDeadline(stages, run));
      run.sanitizer.flush();
      run.endedAt = deps.clock.now();
      if (hooks === NO_HOOKS) attempt.finishing = true;
      else await run.updates.drain();
    },
  };
}

async function underDeadline(stages: readonly AttemptStage[], run: AttemptRun): Promise<ToolRunResult> {
  const { attempt, claimed, deps } = run;
  const cancelDeadline = deps.clock.after(claimed.runMs, () => attempt.abort('run_timeout'));
  try {
    const toolRun = await runTool(() => runAttemptStages(stages, run).then(() => run.toolOutput), attempt);
    if (toolRun.kind === 'failure' && toolRun.unexpected !== undefined)
      deps.logger.error({ callId: attempt.callId, tool: claimed.meta.tool, err: toolRun.unexpected }, 'a tool threw an unexpected error');
    return toolRun;
  } finally {
    cancelDeadline();
  }
}
