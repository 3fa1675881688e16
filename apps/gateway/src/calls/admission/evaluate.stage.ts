import { Injectable } from '@nestjs/common';
import { withAgentDepth } from './agent-depth.js';
import { withCallers } from './tool-callers.js';
import { CallEvaluator } from './call-evaluator.service.js';
import type { EvaluatedCall } from './evaluated-call.js';
import { withStartersApproval } from './starters-approval.js';
import type { AdmissionStage, Submission } from './submission.js';

/** Resolves the tool, checks that the key may use it, validates the arguments, and decides by permission mode and policy. */
@Injectable()
export class EvaluateStage implements AdmissionStage {
  readonly name = 'judge';
  readonly isAlwaysTraced = true;

  constructor(private readonly evaluator: CallEvaluator) {}

  run(submission: Submission): void | Promise<void> {
    const evaluated = this.evaluator.evaluate(submission.principal, submission.body, submission.options.spoken);
    if (evaluated instanceof Promise) return evaluated.then((it) => void (submission.evaluated = byPlace(submission, it)));
    submission.evaluated = byPlace(submission, evaluated);
  }

  spanAttributes({ evaluated: { decision, rejection } }: Submission): Record<string, string | undefined> {
    return { 'toolyard.decision.effect': decision.effect, 'toolyard.refusal.code': rejection?.error.code };
  }
}

/** With what the calls above it forbid, and what a person allowed of the call that started it. */
function byPlace(submission: Submission, evaluated: EvaluatedCall): EvaluatedCall {
  return withStartersApproval(submission, withCallers(submission, withAgentDepth(submission, evaluated)));
}
