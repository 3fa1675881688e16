import type { AgentBudget, Call, DecisionReason, Principal, SubmitCallBody } from '#contracts';
import type { SpokenCall } from '#dialects';
import { EventLogFull, type Applied, type NewCall, type StoredEvent } from '#event-log';
import type { CallLineage } from './child-call.service.js';
import { NOT_EVALUATED, type EvaluatedCall } from './evaluated-call.js';
import type { NewCallInput } from './new-call.js';

export interface SubmitOptions {
  readonly idempotencyKey?: string | undefined;
  readonly traceparent?: string | undefined;
  /** The MCP client offers its model to the tool. */
  readonly sampling?: true | undefined;
  /** Answer when the call has ended, at most that long. */
  readonly waitMs?: number | undefined;
  readonly replayOf?: string | undefined;
  /** The schedule that submits it. */
  readonly scheduleId?: string | undefined;
  /** Of a replay: how the call was said whose canonical tool and arguments these are. */
  readonly spoken?: SpokenCall | undefined;
  /** Of a replay: who submitted the calls before it. */
  readonly requesters?: readonly string[] | undefined;
  /** The batch that the call belongs to. */
  readonly batchId?: string | undefined;
  /** The loop of a sub-agent makes the call. `budget`: what it leaves to a sub-agent that it calls. */
  readonly byAgent?: { readonly budget: AgentBudget } | undefined;
  /** The call is a background run: the call that started it, with the same arguments, and what a person allowed that one. */
  readonly startedBy?: { readonly callId: string; readonly allowed: readonly DecisionReason[] } | undefined;
  /** Called with the id that the call gets if it is new, before it can end. */
  readonly newId?: ((callId: string) => void) | undefined;
  /** Cancel the call when the client disconnects during the wait. */
  readonly cancelOnDisconnect?: boolean | undefined;
  /** Returns a signal that aborts when the client disconnects. Called only where something can be stopped by it. */
  readonly clientDisconnectSignal?: (() => AbortSignal) | undefined;
}

/** The answer of the log: a new call, or the call that had the same key before (`IDEM_MISMATCH`: as another request). */
export type AcceptedSubmission =
  | { readonly call: Call; readonly logCode: Applied['code'] }
  | { readonly repeatedCallId: string; readonly logCode: 'IDEM' | 'IDEM_MISMATCH' };

/** The id in limit checks of a dry run, which never becomes a call. */
const NO_CALL_ID = 'quote';

/**
 * One submission on its way through the stages of `pipeline.ts`. Each stage fills in its part; the stages after it read
 * that. One object for all stages: a submission costs no allocation a stage.
 */
export class Submission {
  /** `lineage` completes it by the parent's session and agent, `redact` takes secrets out of it. */
  body: SubmitCallBody;
  /** Set for a call that another call makes. */
  lineage: CallLineage | undefined;
  callId = NO_CALL_ID;
  /** Recognises the same submission again. `limits` takes it from a call that may pass later. */
  idempotency: NewCall['idempotency'];
  /** What is known of the call so far: by `evaluate`, then changed by `hooks`, `limits` and `redact`. */
  evaluated: EvaluatedCall;
  /** True when the call was rejected for a reason that does not hold for the next submission, such as a failed hook. */
  transient = false;
  retryAfterMs: number | undefined;
  /** The most bytes of result that the limits let the model get. */
  resultBytes: number | undefined;
  /** Returns what `limits` counted. Called when the call was not accepted. Never rejects. */
  release: (() => Promise<void>) | undefined;
  /** The arguments as submitted, when those of `evaluated` are redacted. */
  secret: NewCallInput['secret'];
  redactionSettings: string | undefined;
  /** Resolves with the events that were seen when the call has ended. Set when the caller waits. */
  ended: Promise<readonly StoredEvent[] | undefined> | undefined;
  /** Ends the watch for the End. */
  unwatch: (() => void) | undefined;
  /** From here on an error does not say whether the call is in the log. */
  mayBeWritten = false;
  /** Milliseconds of the stages so far that took one or more. */
  stageMs: Record<string, number> | undefined;
  /** Records spans of the stages; undefined while tracing is off. */
  trace: SubmissionTrace | undefined;
  private composedCall: NewCall | undefined;
  private acceptedSubmission: AcceptedSubmission | undefined;

  constructor(
    readonly principal: Principal,
    body: SubmitCallBody,
    readonly options: SubmitOptions,
    /** A quote: nothing is counted, stored or asked of hooks. */
    readonly isDryRun = false,
  ) {
    this.body = body;
    this.evaluated = { requestedTool: body.tool, args: body.arguments, decision: NOT_EVALUATED };
  }

  /** Keeps the time of a stage. Those of `compose` and the stages after it are in its event, too, which `accept` writes. */
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

  /** Whether it is certain that the log has nothing of this submission after `error`. */
  wroteNothing(error: unknown): boolean {
    return !this.mayBeWritten || error instanceof EventLogFull || error instanceof RangeError;
  }
}

/** Spans of one submission. */
export interface SubmissionTrace {
  /** The submission's span, which the log keeps with the call. */
  readonly traceparent: string;
  /** Runs a stage in a span of its own. */
  run(stage: AdmissionStage, submission: Submission): void | Promise<void>;
}

/** One step of a submission. Returns a promise only when it has to wait. */
export interface AdmissionStage {
  /** Also the name of its span. */
  readonly name: string;
  /** A stage that does not wait leaves a span only if this is true. */
  readonly isAlwaysTraced?: boolean;
  run(submission: Submission): void | Promise<void>;
  /** Facts about the finished stage for its span. */
  spanAttributes?(submission: Submission): Readonly<Record<string, string | undefined>>;
}
