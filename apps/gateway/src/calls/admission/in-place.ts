import { withAgentDepth } from './agent-depth.js';
import type { EvaluatedCall } from './evaluated-call.js';
import { withStartersApproval } from './starters-approval.js';
import type { Submission } from './submission.js';
import { withCallers } from './tool-callers.js';

/** Applies restrictions of ancestor calls and the approval of the call that started this one. Pure. */
export function inPlace(submission: Submission, evaluated: EvaluatedCall): EvaluatedCall {
  return withStartersApproval(submission, withCallers(submission, withAgentDepth(submission, evaluated)));
}
