import { Injectable } from '@nestjs/common';
import { CallEvaluator } from './call-evaluator.service.js';
import { applyCallTree } from './call-tree.js';
import type { AdmissionStage, Submission } from './submission.js';

/** Resolves the tool, checks that the key may use it, validates the arguments, and decides by permission mode and policy. */
@Injectable()
export class EvaluateStage implements AdmissionStage {
  readonly name = 'evaluate';
  readonly isAlwaysTraced = true;

  constructor(private readonly evaluator: CallEvaluator) {}

  run(submission: Submission): void | Promise<void> {
    const evaluated = this.evaluator.evaluate(submission.principal, submission.body, submission.options.dialectForm);
    if (evaluated instanceof Promise) return evaluated.then((it) => void (submission.evaluated = applyCallTree(submission, it)));
    submission.evaluated = applyCallTree(submission, evaluated);
  }

  spanAttributes({ evaluated: { decision, rejection } }: Submission): Record<string, string | undefined> {
    return { 'toolyard.decision.effect': decision.effect, 'toolyard.rejection.code': rejection?.error.code };
  }
}
