import type { AttemptStage } from './attempt-run.js';
import { afterHooksStage } from './stages/after-hooks.stage.js';
import { callToolStage } from './stages/call-tool.stage.js';
import { checkApprovalStage } from './stages/check-approval.stage.js';
import { claimStage } from './stages/claim.stage.js';
import { commitStage } from './stages/commit.stage.js';
import { decideStage } from './stages/decide.stage.js';
import { endHooksStage } from './stages/end-hooks.stage.js';
import { hooksStage } from './stages/hooks.stage.js';
import { loadInputsStage } from './stages/load-inputs.stage.js';
import { outputStage } from './stages/output.stage.js';
import { redactionStage } from './stages/redaction.stage.js';
import { releaseStage } from './stages/release.stage.js';
import { resolveToolStage } from './stages/resolve-tool.stage.js';
import { runStage } from './stages/run.stage.js';
import { sanitizeStage } from './stages/sanitize.stage.js';

/**
 * The steps of an attempt, in order. Each is a stage in a file of its own:
 *
 *  1. claim        take the call: fence, lease, writer. On a single node the claim has already run in the dequeue script.
 *  2. redaction    the redaction settings under which the call was accepted
 *  3. hooks        the hooks under which the call was accepted
 *  4. output       open the path of the tool's output: sanitizer and update stream
 *  5. run          start the run deadline, then:
 *     resolve_tool    find the tool; reject it if it has more capabilities here than the gateway evaluated
 *     load_inputs     load arguments, workspace, and the paths that the decision opens or denies
 *     check_approval  check that an approval covers this version of the tool and exactly these arguments
 *     call_tool       run the tool with deadline, abort signal and updates
 *  6. sanitize     check the output against the tool's schema, redact it
 *  7. decide       End, Retry, or nothing if another worker owns the call
 *  8. after_hooks  hooks may add to the result or deny it
 *  9. commit       store large results, then write End or Retry until Redis acknowledges it
 * 10. release      give the lease back
 * 11. end_hooks    hooks that only observe the End
 *
 * A failure inside `run` is the result of the attempt. Any other rejection leaves the call to the reconciler.
 * A stage returns a promise only if it must wait, and only then the pipeline awaits it (throughput in `npm run bench`).
 */
export const ATTEMPT_STAGES: readonly AttemptStage[] = [
  claimStage,
  redactionStage,
  hooksStage,
  outputStage,
  runStage([resolveToolStage, loadInputsStage, checkApprovalStage, callToolStage]),
  sanitizeStage,
  decideStage,
  afterHooksStage,
  commitStage,
  releaseStage,
  endHooksStage,
];
