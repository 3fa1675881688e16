// Over 300 lines: types only. The whole interface of the log is read in one place.
import type {
  AdminType,
  ApprovalDecidedData,
  ApprovalRequestedData,
  CallStatus,
  CancelRequestedData,
  EndData,
  EventType,
  HookRunData,
  InputGivenData,
  InputRequestedData,
  ProgressData,
  RetryData,
  SubmittedData,
  SuspensionState,
  TurnData,
  UpdateData,
} from '#contracts';

/** Facts that every event of a call has and that never change. */
export interface CallMeta {
  readonly tenantId: string;
  readonly tool: string;
  readonly agentId?: string;
  readonly sessionId?: string;
  readonly traceparent?: string;
  /** The call that made this one; it is in the same partition. */
  readonly parentCallId?: string;
}

/** Who writes an event: CloudEvents `source` and the audit's `actor`. */
export interface EventOrigin {
  readonly source: string;
  readonly actor: string;
  /** The person, where one has signed in. */
  readonly actorname?: string | undefined;
}

export interface NewCall {
  readonly callId: string;
  readonly meta: CallMeta;
  readonly submitted: SubmittedData;
  /** The arguments as JSON text when `submitted.argumentsRef` says that they live beside the log. */
  readonly argumentsBlob?: string;
  /** What the worker reads instead of the arguments shown, when `submitted.argumentsRedacted` says so. Gone with the End, at the latest after its time. */
  readonly secretArguments?: { readonly text: string; readonly ttlMs: number };
  readonly author: EventOrigin;
  readonly idempotency?: { readonly scopedKey: string; readonly requestSha256: string };
  /** Events of the hooks that ran before the call; they follow the submission in the same transition. */
  readonly hookRuns?: readonly HookRunData[];
  /** What comes with the submission in the same transition: nothing (queued), a question for a person, or the End of a refused call. */
  readonly followUp?:
    | { readonly kind: 'approval'; readonly data: ApprovalRequestedData }
    | { readonly kind: 'refused'; readonly data: EndData };
}

/** Answers that any transition may get instead of OK. None of them wrote anything. */
export type Rejection =
  | { readonly code: 'CONFLICT'; readonly version: number }
  | { readonly code: 'FENCED'; readonly fence: number }
  | { readonly code: 'ENDED' }
  | { readonly code: 'NOT_FOUND' }
  | { readonly code: 'NOT_DUE'; readonly retryInMs: number }
  | { readonly code: 'BAD_TRANSITION'; readonly status: CallStatus };

/** `REPLAY`: this very transition was applied before (its first answer was lost); the facts are those of then. */
export interface Applied {
  readonly code: 'OK' | 'REPLAY';
  readonly version: number;
  readonly seq: number;
  /** Redis time of the transition, ms since the epoch. */
  readonly time: number;
}

export type AcceptAnswer = Applied | { readonly code: 'IDEM' | 'IDEM_MISMATCH'; readonly callId: string };

/** What runs: the submission, or what the approver made of it. */
export interface ClaimedSubmission extends SubmittedData {
  /** The approver edited the arguments: `arguments…`, `files` and `egress` are those of the edit, stored under their own names. */
  readonly argumentsEdited?: true;
}

/** All a worker needs to run an attempt; the one answer of the claim script. */
export interface Claimed extends Applied {
  readonly attempt: number;
  readonly fence: number;
  readonly meta: CallMeta;
  readonly submitted: ClaimedSubmission;
  readonly submittedAt: number;
  /** Redis time of the first Start of the call. */
  readonly firstStartedAt: number;
  /** Attempts before this one that failed: releases and suspensions do not count. */
  readonly failures: number;
  /** Milliseconds this attempt may run: the smaller of the run limit and what is left of the total. */
  readonly runMs: number;
  /** Of the attempts before, as in `UpdatesDigest`. */
  readonly updates: string;
  /** The last suspension of the call, also where an attempt after it failed. Absent for a call that was never suspended. */
  readonly resumed?: ResumedFrom;
}

/** Why a suspended call runs again: its time came, it was woken, or it got its input. */
export type ResumeReason = 'timer' | 'woken' | 'input';

export interface ResumedFrom {
  readonly reason: ResumeReason;
  /** Where the tool left its state; absent where it left none. */
  readonly state?: SuspensionState;
  /** Present where the reason is `input`. */
  readonly input?: InputGivenData;
}

/** A call that may run now because of a transition; the process that asked for the transition dispatches it. */
export interface WokenCall {
  readonly callId: string;
  readonly attempt: number;
  readonly queue: string;
  readonly priority: SubmittedData['priority'];
  readonly pool: SubmittedData['pool'];
  readonly tenantId: string;
}

/** The worker that claims, as its events name it, and how long a claim holds without renewal. */
export interface WorkerIdentity {
  readonly leaseMs: number;
  readonly worker: string;
  readonly author: EventOrigin;
}

/** Proves that a write comes from the worker that holds the attempt. `writeSeq` is 1, 2, 3 … within the attempt. */
export interface WorkerGuard {
  readonly by: 'worker';
  readonly fence: number;
  readonly writeSeq: number;
}

/** The reconciler acts only when the call's timer is due by the Redis clock and the fence has not moved since it looked. */
export interface ReconcilerGuard {
  readonly by: 'reconciler';
  readonly fence: number;
}

/** A caller or approver acts on the version it has read; `commandId` makes a retried command idempotent. */
export interface CommandGuard {
  readonly by: 'command';
  readonly version: number;
  readonly commandId: string;
}

export interface CallSnapshot {
  readonly callId: string;
  readonly status: CallStatus;
  readonly version: number;
  readonly attempt: number;
  readonly fence: number;
  readonly writeSeq: number;
  readonly failures: number;
  readonly cancelRequested: boolean;
  /** Redis ms: when the queue wait or the running attempt must be over. */
  readonly deadline: number;
  /** Redis ms: when the whole call must be over. */
  readonly totalDeadline: number;
  readonly leaseUntil: number;
  readonly submittedAt: number;
  readonly firstStartedAt: number;
  /** Sequence numbers of the events that change the call (`changesCall`), oldest first. */
  readonly lifecycleSeqs: readonly number[];
  readonly lastSeq: number;
  readonly meta: CallMeta;
  readonly pool: SubmittedData['pool'];
  /** Where its jobs are: the queue of its pool, or that of the source of its tool. */
  readonly queue: string;
  readonly priority: SubmittedData['priority'];
  readonly effect: SubmittedData['effect'];
  readonly maxAttempts: number;
}

/**
 * The one way to change a call. Each method is one transition of the state machine; transitions of one tick travel to
 * Redis in one script. Methods reject only when Redis stayed out of reach (`EventLogUnavailable`) or refuses writes
 * above maxmemory (`EventLogFull`); a refused transition is an answer, not an error.
 */
/** Lua that claims the calls of jobs in the script of a queue that takes the jobs; a `DequeueHook` of libs/queue. */
export interface DequeueClaimHook {
  /** Defines `onDequeue(jobs, args)`, see claim-on-dequeue.lua. */
  readonly lua: string;
  readonly args: readonly string[];
}

/** What that Lua returned for one call. `lost`: it may have run, but its answer never came. */
export type DequeueClaim = { readonly kind: 'answered'; readonly shared: unknown; readonly own: unknown } | { readonly kind: 'lost' };

export interface EventLogWriter {
  newCallId(tenantId: string, rootId?: string): string;
  /**
   * `sent` is called once, when the transition has been written to the connection and before anything is known about it:
   * what is written after that, from there, Redis reads after the accept.
   */
  accept(call: NewCall, sent?: () => void): Promise<AcceptAnswer>;
  /**
   * `taken`: the call was claimed when its job was taken, and this is what the script of `claimOnDequeue` said. `token`
   * names the claim: another process that claims the running attempt with the same one is granted it, with the same fence.
   * Default: one that only this writer knows.
   */
  claim(input: WorkerIdentity & { callId: string; attempt: number; token?: string }, taken?: DequeueClaim): Promise<Claimed | Rejection>;
  /** Lets a queue claim the calls of jobs in the script that takes the jobs. */
  claimOnDequeue(claimant: WorkerIdentity): DequeueClaimHook;
  /** `updates`: of the call by now, as `UpdatesDigest` says it; without it no End of the call proves its updates. */
  update(input: {
    callId: string;
    guard: WorkerGuard;
    data: UpdateData;
    updates?: string;
    author: EventOrigin;
  }): Promise<Applied | Rejection>;
  progress(input: { callId: string; guard: WorkerGuard; data: ProgressData; author: EventOrigin }): Promise<Applied | Rejection>;
  /** A step of a hook run in the worker. Hooks in the gateway come with `accept`, `end` and `decideApproval`. */
  hook(input: { callId: string; guard: WorkerGuard; data: HookRunData; author: EventOrigin }): Promise<Applied | Rejection>;
  /** A turn of a sub-agent. */
  turn(input: { callId: string; guard: WorkerGuard; data: TurnData; author: EventOrigin }): Promise<Applied | Rejection>;
  /** Sends no event. The answer tells whether a cancel was requested meanwhile. */
  renew(input: { callId: string; fence: number; leaseMs: number }): Promise<{ code: 'OK'; cancelRequested: boolean } | Rejection>;
  retry(input: {
    callId: string;
    guard: WorkerGuard | ReconcilerGuard;
    data: RetryData;
    countsAsFailure: boolean;
    author: EventOrigin;
  }): Promise<Applied | Rejection>;
  /**
   * Ends the attempt, and frees the worker. `until` children: a call that it made wakes it by its End, or did so while the
   * attempt ran; then it is due at once. `data.delayMs` bounds the wait.
   */
  suspend(input: { callId: string; guard: WorkerGuard; data: RetryData; author: EventOrigin }): Promise<Applied | Rejection>;
  /** The same until a person or a program gives a value. */
  requestInput(input: { callId: string; guard: WorkerGuard; data: InputRequestedData; author: EventOrigin }): Promise<Applied | Rejection>;
  /** Queues a call that waits for input. */
  giveInput(input: { callId: string; guard: CommandGuard; data: InputGivenData; author: EventOrigin }): Promise<Applied | Rejection>;
  /**
   * Makes a call due that is suspended until its children end; one that runs is due at once when it suspends itself so.
   * Sends no event. Safe to repeat; changes nothing of other calls.
   */
  wake(callId: string): Promise<{ code: 'OK' } | Rejection>;
  /** `sent` as of `accept`. The script writes the updates of the call into End: `data.updates` is ignored. */
  end(
    input: {
      callId: string;
      guard: WorkerGuard | ReconcilerGuard | CommandGuard;
      data: EndData;
      /** Written before the End; with a CommandGuard only. */
      hookRuns?: readonly HookRunData[];
      author: EventOrigin;
    },
    sent?: () => void,
  ): Promise<Applied | Rejection>;
  /** Only on a running call; what is not running yet is ended by `end` with a CommandGuard. */
  requestCancel(input: {
    callId: string;
    guard: CommandGuard;
    data: CancelRequestedData;
    author: EventOrigin;
  }): Promise<Applied | Rejection>;
  /** Writes the hooks that ran for an approval that is held. Only on a call that waits for approval, which goes on waiting. */
  holdApproval(input: {
    callId: string;
    guard: CommandGuard;
    hookRuns: readonly HookRunData[];
    author: EventOrigin;
  }): Promise<Applied | Rejection>;
  /** `allow` queues the call; `deny` comes with the End in the same transition. */
  decideApproval(input: {
    callId: string;
    guard: CommandGuard;
    data: ApprovalDecidedData;
    end?: EndData;
    /** Written before the decision. */
    hookRuns?: readonly HookRunData[];
    author: EventOrigin;
  }): Promise<Applied | Rejection>;
  /** Moves the timer of a queued call after it was dispatched again. Sends no event. */
  deferDispatch(input: { callId: string; fence: number; delayMs: number }): Promise<{ code: 'OK' } | Rejection>;
  close(): Promise<void>;
}

/**
 * An event as readers get it: facts for routing, and the ready CloudEvents JSON text. What happens beside calls has no
 * call (`callId` and `meta.tool` are empty); events of workers are for all tenants (`meta.tenantId` is empty).
 */
export interface StoredEvent {
  readonly partition: string;
  readonly epoch: number;
  readonly seq: number;
  /** Empty for what happens beside calls. */
  readonly callId: string;
  readonly type: EventType | AdminType;
  readonly time: number;
  readonly meta: CallMeta;
  /** About as many characters as `json` has. */
  readonly size: number;
  /** The whole envelope as JSON text; composed when it is asked for, which most events never are. */
  readonly json: string;
}
