import type { AgentBudget, Call, DecisionReason, Principal, SubmitCallBody } from '#contracts';
import type { DialectForm } from '#dialects';
import { EventLogFull, type Applied, type NewCall, type StoredEvent } from '#event-log';
import type { Stage, StageTrace } from '#observability';
import type { CallLineage } from './child-call.service.js';
import { NOT_EVALUATED, type EvaluatedCall } from './evaluated-call.js';
import type { NewCallInput } from './new-call.js';

export interface SubmitOptions {
  readonly idempotencyKey?: string | undefined;
  readonly traceparent?: string | undefined;
  /** The MCP client offers its model to the tool. */
  readonly sampling?: true | undefined;
  /** Longest wait for the End before the response, in milliseconds. */
  readonly waitMs?: number | undefined;
  readonly replayOf?: string | undefined;
  /** Schedule that submits the call. */
  readonly scheduleId?: string | undefined;
  /** Dialect form of a replayed call, whose tool and arguments are canonical. */
  readonly dialectForm?: DialectForm | undefined;
  /** Submitters of the replayed calls. */
  readonly requesters?: readonly string[] | undefined;
  /** Batch of the call. */
  readonly batchId?: string | undefined;
  /** Set for calls by the loop of a sub-agent. `budget`: budget of a sub-agent that it calls. */
  readonly byAgent?: { readonly budget: AgentBudget } | undefined;
  /** Set for a background run: the call that started it with the same arguments, and the approved reasons of that call. */
  readonly startedBy?: { readonly callId: string; readonly allowed: readonly DecisionReason[] } | undefined;
  /** Called with the id of a new call, before it can end. */
  readonly newId?: ((callId: string) => void) | undefined;
  /** Cancels the call if the client disconnects during the wait. */
  readonly cancelOnDisconnect?: boolean | undefined;
  /** Returns a signal that aborts when the client disconnects. Called only if something can be stopped by it. */
  readonly clientDisconnectSignal?: (() => AbortSignal) | undefined;
}

/** Answer of the log: a new call, or the earlier call of the same key (`IDEM_MISMATCH`: of another request). */
export type AcceptedSubmission =
  | { readonly call: Call; readonly logCode: Applied['code'] }
  | { readonly repeatedCallId: string; readonly logCode: 'IDEM' | 'IDEM_MISMATCH' };

/** Id in limit checks of a dry run, which never becomes a call. */
const NO_CALL_ID = 'quote';

/**
 * State of one submission in the stages of `pipeline.ts`. Each stage sets its part, which later stages read. One object for all
 * stages avoids an allocation per stage.
 */
export class Submission {
  /** Body, completed by `lineage` with the parent's session and agent, redacted by `redact`. */
  body: SubmitCallBody;
  /** Set for a child call. */
  lineage: CallLineage | undefined;
  callId = NO_CALL_ID;
  /** Identity of a repeated submission. `limits` removes it from a call that may pass later. */
  idempotency: NewCall['idempotency'];
  /** Facts of the call, set by `evaluate`, then changed by `hooks`, `limits` and `redact`. */
  evaluated: EvaluatedCall;
  /** True if the reason of the rejection does not hold for the next submission, such as a failed hook. */
  transient = false;
  retryAfterMs: number | undefined;
  /** Most bytes of result that the limits let the model get. */
  resultBytes: number | undefined;
  /** Releases the counts of `limits`. Called if the call was not accepted. Never rejects. */
  release: (() => Promise<void>) | undefined;
  /** Submitted arguments, if those of `evaluated` are redacted. */
  secret: NewCallInput['secret'];
  redactionSettings: string | undefined;
  /** Resolves with the watched events when the call has ended. Set if the caller waits. */
  ended: Promise<readonly StoredEvent[] | undefined> | undefined;
  /** Cancels the watch for the End. */
  unwatch: (() => void) | undefined;
  /** True once an error no longer shows whether the call is in the log. */
  mayBeWritten = false;
  /** Milliseconds of finished stages that took at least 1 ms. */
  stageMs: Record<string, number> | undefined;
  /** Recorder of stage spans; undefined while tracing is off. */
  trace: StageTrace<Submission> | undefined;
  private composedCall: NewCall | undefined;
  private acceptedSubmission: AcceptedSubmission | undefined;

  constructor(
    readonly principal: Principal,
    body: SubmitCallBody,
    readonly options: SubmitOptions,
    /** True for a quote, which counts and stores nothing and runs no hooks. */
    readonly isDryRun = false,
  ) {
    this.body = body;
    this.evaluated = { requestedTool: body.tool, args: body.arguments, decision: NOT_EVALUATED };
  }

  /** Records the time of a stage. Times of `compose` and later stages also get into its event, which `accept` writes. */
  measure(stage: string, tookMs: number): void {
    (this.stageMs ??= {})[stage] = tookMs;
    if (this.composedCall !== undefined) this.composedCall.submitted.stageMs = this.stageMs;
  }

  /** Set by `compose`. */
  get newCall(): NewCall {
    if (this.composedCall === undefined) throw new Error('The stage `compose` has not run');
    return this.composedCall;
  }

  set newCall(call: NewCall) {
    this.composedCall = call;
  }

  /** Set by `accept`. */
  get accepted(): AcceptedSubmission {
    if (this.acceptedSubmission === undefined) throw new Error('The stage `accept` has not run');
    return this.acceptedSubmission;
  }

  set accepted(accepted: AcceptedSubmission) {
    this.acceptedSubmission = accepted;
  }

  /** True if the log certainly has nothing of this submission after `error`. */
  wroteNothing(error: unknown): boolean {
    return !this.mayBeWritten || error instanceof EventLogFull || error instanceof RangeError;
  }
}

/** One step of a submission. */
export type AdmissionStage = Stage<Submission>;
