import type { AttemptRun, AttemptStage } from '../attempt-run.js';
import { hasResult, NO_HOOKS } from '../call-hooks.js';
import { mergeBeforeFeedback } from '../hook-feedback.js';
import { decideStage } from './decide.stage.js';

/**
 * Runs the hooks after the call, collects their feedback for the model, and closes the update stream. An attempt that was
 * aborted while hooks ran is decided again, and keeps the tool's result.
 */
export const afterHooksStage: AttemptStage = {
  name: 'after_hooks',
  run(run) {
    if (run.hooks === NO_HOOKS) return finish(run, undefined);
    const { decision, hooks, result, sanitizer } = run;
    return hooks.runAfter(decision, result, (text, cut) => sanitizer.redact(text, cut)).then((feedback) => finish(run, feedback));
  },
};

function finish(run: AttemptRun, feedback: AttemptRun['feedback']): void {
  const { attempt, claimed, hooks, updates } = run;
  run.feedback = hasResult(run.decision) ? mergeBeforeFeedback(claimed.submitted.hookFeedback, feedback) : feedback;
  attempt.finishing = true;
  if (hooks !== NO_HOOKS) void decideStage.run(run);
  if (run.decision.kind === 'nothing') updates.cancel();
  else updates.close();
}
