import { Injectable } from '@nestjs/common';
import { runStages } from '#observability';
import { FairTurns, LARGE_SIZE, sizeLeft } from '../../platform/fair-turns.service.js';
import { AcceptStage } from './accept.stage.js';
import { ComposeStage } from './compose.stage.js';
import { EvaluateStage } from './evaluate.stage.js';
import { HooksStage } from './hooks.stage.js';
import { IdentifyStage } from './identify.stage.js';
import { LimitsStage } from './limits.stage.js';
import { LineageStage } from './lineage.stage.js';
import { MemoryStage } from './memory.stage.js';
import { RedactStage } from './redact.stage.js';
import type { AdmissionStage, Submission } from './submission.js';
import { WatchStage } from './watch.stage.js';

/**
 * The steps of a submission, in order. Each is a stage in a file of its own:
 *
 * 1. memory    refuse what Redis has no room for
 * 2. lineage   a call that another call makes gets its parent's session, agent and remaining time
 * 3. evaluate  resolve the tool, may the key use it, validate the arguments, permission mode, policy
 * 4. identify  the call's id, and what recognises the same submission again
 * 5. hooks     hooks before the call: they may reject it, or rewrite the arguments, which are evaluated again
 * 6. limits    budgets, rates, concurrency, sizes: counted here, returned when the call is not accepted
 * 7. redact    secrets are taken out of what is stored and shown
 * 8. compose   the first transition of the call
 * 9. watch     when the caller waits: watch for the End, before the call can end
 * 10. accept   write the call to the log, and dispatch it to the queue
 *
 * A rejection ends no stage but is kept with the submission: a rejected call is recorded like any other and ends where it
 * starts. A quote passes the stages that change nothing: lineage, evaluate, and limits, which then only looks.
 *
 * A stage returns a promise only when it has to wait, and only then the pipeline awaits (CPU of the gateway a call in
 * `npm run bench`): submissions that wait for nothing are accepted in the order in which they came. Each stage
 * of a large submission has a turn of the event loop, so large ones may be overtaken.
 */
@Injectable()
export class AdmissionPipeline {
  private readonly submitStages: readonly AdmissionStage[];
  private readonly quoteStages: readonly AdmissionStage[];

  constructor(
    memory: MemoryStage,
    lineage: LineageStage,
    evaluate: EvaluateStage,
    identify: IdentifyStage,
    hooks: HooksStage,
    limits: LimitsStage,
    redact: RedactStage,
    compose: ComposeStage,
    watch: WatchStage,
    accept: AcceptStage,
    private readonly turns: FairTurns,
  ) {
    this.submitStages = [memory, lineage, evaluate, identify, hooks, limits, redact, compose, watch, accept];
    this.quoteStages = [lineage, evaluate, limits];
  }

  /** Rejects if the call was not accepted. The limits are then released, unless the call may be in the log. */
  async run(submission: Submission): Promise<void> {
    const { principal, body } = submission;
    const isLarge = sizeLeft(body.arguments, LARGE_SIZE) < 0;
    try {
      await runStages(submission.isDryRun ? this.quoteStages : this.submitStages, submission, {
        before: isLarge ? () => this.turns.next(principal.tenantId) : undefined,
        after: ({ name }, ms) => {
          const tookMs = Math.round(ms);
          if (tookMs > 0) submission.measure(name, tookMs);
        },
      });
    } catch (error) {
      if (submission.wroteNothing(error)) await submission.release?.();
      throw error;
    }
  }
}
