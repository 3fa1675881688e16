import type { AttemptDecision } from '../commit/decide-attempt.js';
import type { AttemptWriter } from '../commit/attempt-writer.js';
import type { CommitResult } from '../commit/commit-attempt.js';
import type { HookFeedback } from '../commit/attempt-result.js';
import type { NotClaimed } from '../claim/claim-attempt.js';
import type { CallJob, Pool, Result, ToolDescriptor } from '#contracts';
import type { Claimed } from '#event-log';
import { runStages, type Stage } from '#observability';
import type { DequeueHookResult } from '#queue';
import type { EgressLimits, Resumed, ToolOutput, ToolView, Workspace } from '#tool-sdk';
import type { AttemptDependencies } from './attempt-dependencies.js';
import type { AttemptTrace } from './attempt-trace.js';
import { Attempt } from './attempt.js';
import { type CallHooks, NO_HOOKS } from './call-hooks.js';
import type { OutputSanitizer } from './output-sanitizer.js';
import type { LoadedArguments } from './read-arguments.js';
import type { ActiveRedaction } from './redaction-settings.service.js';
import type { ToolRunResult } from './run-tool.js';
import type { UpdateStream } from './update-stream.js';

export interface AttemptOptions {
  /** Claim that ran in the script that dequeued the job. */
  readonly dequeueClaim?: DequeueHookResult | undefined;
  /** Called after the End was written to the connection, before its acknowledgement. Not called if hooks run after the End. */
  readonly onEndSent?: (() => void) | undefined;
  /** Name of the claim, for a process that may take over the attempt. Default: known to this process only. */
  readonly claimToken?: string | undefined;
  /** Set if the attempt began in another process under this `claimToken` and continues here with the same fence. */
  readonly takenOver?: TakenOver | undefined;
}

export interface TakenOver {
  /** Number of the last write before. Writes here are numbered far above it. */
  readonly writeSeq: number;
}

/**
 * State of one attempt in the stages of `attempt-pipeline.ts`: each stage sets its part for later ones. A single object for all
 * stages saves allocations.
 */
export class AttemptRun {
  readonly attempt: Attempt;
  /** Set by `claim` if this worker may not run the attempt, which ends the pipeline. */
  notClaimed: NotClaimed | undefined;
  /** Set by `claim`. */
  claimed!: Claimed;
  /** Set by `claim`: releases the lease. Idempotent. */
  releaseLease: (() => void) | undefined;
  /** Set by `claim` while spans are exported. */
  trace: AttemptTrace | undefined;
  /** Set by `redaction`. */
  redaction!: ActiveRedaction;
  /** Set by `hooks`. */
  hooks: CallHooks = NO_HOOKS;
  /** Set by `claim`: writes the events of this attempt. */
  writer!: AttemptWriter;
  /** Set by `output`: updates for watchers. */
  updates!: UpdateStream;
  /** Set by `output`: redacts all output of the tool. */
  sanitizer!: OutputSanitizer;
  /** Set by `resolve_tool`: the tools of the call's tenant at that time. */
  view: ToolView | undefined;
  /** Set by `resolve_tool`. */
  tool!: ToolDescriptor;
  /** Set by `load_inputs`. */
  inputs!: LoadedArguments & {
    readonly workspace: Workspace;
    readonly resumed: Resumed | undefined;
    readonly egress: EgressLimits | undefined;
  };
  /** Set by `call_tool`, before the tool is called. */
  toolReached = false;
  /** Set by `call_tool`, read by `run` only: a tool that answers after its grace sets it too late. */
  toolOutput!: ToolOutput;
  /** Set by `run`, by the monotonic clock. */
  startedAt = 0;
  endedAt = 0;
  /** Set by `run`: result of the tool, or the reason why it did not run. Redacted by `sanitize`. */
  toolResult!: ToolRunResult;
  /** Set by `sanitize` if the tool returned a valid output. */
  result: Result | undefined;
  /** Set by `decide`, and again by `after_hooks`. */
  decision!: AttemptDecision;
  /** Set by `after_hooks`. */
  feedback: HookFeedback | undefined;
  /** Set by `commit`. */
  committed: CommitResult | undefined;

  constructor(
    readonly job: CallJob,
    readonly pool: Pool,
    readonly deps: AttemptDependencies,
    readonly options: AttemptOptions,
  ) {
    this.attempt = new Attempt(job.callId, deps.clock, deps.config.stopGraceMs);
  }

  /** Run time of the tool. */
  get runMs(): number {
    return this.endedAt - this.startedAt;
  }
}

/** Step of an attempt. */
export type AttemptStage = Stage<AttemptRun>;

/** Runs stages in order, until one rejects or the attempt was not claimed. */
export function runAttemptStages(stages: readonly AttemptStage[], run: AttemptRun): Promise<void> {
  return runStages(stages, run, { isOver: () => run.notClaimed !== undefined });
}
