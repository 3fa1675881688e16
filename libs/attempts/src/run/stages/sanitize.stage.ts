import type { AttemptStage } from '../attempt-run.js';
import { withCheckedOutput } from '../check-output.js';

/** Checks the output against the contract and the schema of the tool, then redacts output or failure. */
export const sanitizeStage: AttemptStage = {
  name: 'sanitize',
  run(run) {
    const checked = withCheckedOutput(run.claimed.meta.tool, run.toolResult, (name, value) => run.view?.checkOutput(name, value) ?? []);
    const { run: toolResult, result } = run.sanitizer.sanitizeResult(checked);
    run.toolResult = toolResult;
    run.result = result;
  },
};
