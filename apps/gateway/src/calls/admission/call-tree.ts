import { withAgentDepth } from './agent-depth.js';
import type { EvaluatedCall } from './evaluated-call.js';
import { withInheritedApproval } from './inherited-approval.js';
import type { Submission } from './submission.js';
import { withCallers } from './tool-callers.js';

/** Applies restrictions of ancestor calls and the approval of the call that started this one. Pure. */
export function applyCallTree(submission: Submission, evaluated: EvaluatedCall): EvaluatedCall {
  return withInheritedApproval(submission, withCallers(submission, withAgentDepth(submission, evaluated)));
}
