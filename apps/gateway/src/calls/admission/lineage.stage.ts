import { Injectable } from '@nestjs/common';
import { ChildCallService } from './child-call.service.js';
import type { AdmissionStage, Submission } from './submission.js';

/** Resolves the parent of a child call: the parent must run, and gives the child its session, agent and remaining time. */
@Injectable()
export class LineageStage implements AdmissionStage {
  readonly name = 'lineage';

  constructor(private readonly children: ChildCallService) {}

  run(submission: Submission): void | Promise<void> {
    const { parentCallId } = submission.body;
    if (parentCallId !== undefined) return this.resolve(submission, parentCallId);
  }

  private async resolve(submission: Submission, parentCallId: string): Promise<void> {
    const { principal, body: given, options } = submission;
    const { lineage, body } = await this.children.resolveLineage(principal, given, parentCallId, options.byAgent !== undefined);
    submission.lineage = lineage;
    submission.body = body;
  }
}
