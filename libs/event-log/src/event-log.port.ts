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
  /** Call that made this one, in the same partition. */
  readonly parentCallId?: string;
}

/** Author of an event: CloudEvents `source` and the audit's `actor`. */
export interface EventOrigin {
  readonly source: string;
  readonly actor: string;
  /** Name of the person who has signed in, if any. */
  readonly actorname?: string | undefined;
}

export interface NewCall {
  readonly callId: string;
  readonly meta: CallMeta;
  readonly submitted: SubmittedData;
  /** Arguments as JSON text, if `submitted.argumentsRef` places them beside the log. */
  readonly argumentsBlob?: string;
  /** Arguments for the worker if `submitted.argumentsRedacted` is set. Deleted with the End, at the latest after `ttlMs`. */
  readonly secretArguments?: { readonly text: string; readonly ttlMs: number };
  readonly author: EventOrigin;
  readonly idempotency?: { readonly scopedKey: string; readonly requestSha256: string };
  /** Events of the hooks that ran before the call, written after the submission in the same transition. */
  readonly hookRuns?: readonly HookRunData[];
  /** Event after the submission in the same transition: none (queued), a request for approval, or the End of a rejected call. */
  readonly followUp?:
    | { readonly kind: 'approval'; readonly data: ApprovalRequestedData }
    | { readonly kind: 'refused'; readonly data: EndData };
}

/** Answers of any transition other than OK. Nothing was written. */
export type Rejection =
  | { readonly code: 'CONFLICT'; readonly version: number }
  | { readonly code: 'FENCED'; readonly fence: number }
  | { readonly code: 'ENDED' }
  | { readonly code: 'NOT_FOUND' }
  | { readonly code: 'NOT_DUE'; readonly retryInMs: number }
  | { readonly code: 'BAD_TRANSITION'; readonly status: CallStatus };

/** `REPLAY`: the same transition was applied before (its first answer was lost); the facts are from that time. */
export interface Applied {
  readonly code: 'OK' | 'REPLAY';
  readonly version: number;
  readonly seq: number;
  /** Redis time of the transition, ms since the epoch. */
  readonly time: number;
}

export type AcceptAnswer = Applied | { readonly code: 'IDEM' | 'IDEM_MISMATCH'; readonly callId: string };

/** Submission that runs, with the edits of the approver. */
export interface ClaimedSubmission extends SubmittedData {
  /** The approver edited the arguments: `arguments…`, `files` and `egress` are those of the edit, stored under their own names. */
  readonly argumentsEdited?: true;
}

/** Everything that a worker needs to run an attempt: the answer of the claim script. */
export interface Claimed extends Applied {
  readonly attempt: number;
  readonly fence: number;
  readonly meta: CallMeta;
  readonly submitted: ClaimedSubmission;
  readonly submittedAt: number;
  /** Redis time of the first Start of the call. */
  readonly firstStartedAt: number;
  /** Failed attempts before this one; releases and suspensions do not count. */
  readonly failures: number;
  /** Milliseconds this attempt may run: the smaller of the run limit and the rest of the total limit. */
  readonly runMs: number;
  /** Digest of the updates of previous attempts, in the form of `UpdatesDigest`. */
  readonly updates: string;
  /** The last suspension of the call, even if an attempt after it failed. Absent for a call that was never suspended. */
  readonly resumed?: ResumedFrom;
}

/** Reason for which a suspended call runs again: its time came, a child or a request woke it, or input was given. */
export type ResumeReason = 'timer' | 'woken' | 'input';

export interface ResumedFrom {
  readonly reason: ResumeReason;
  /** Place of the tool's state; absent without one. */
  readonly state?: SuspensionState;
  /** Present if the reason is `input`. */
  readonly input?: InputGivenData;
}

/** A call that may run now because of a transition; the process that sent the transition dispatches it. */
export interface WokenCall {
  readonly callId: string;
  readonly attempt: number;
  readonly queue: string;
  readonly priority: SubmittedData['priority'];
  readonly pool: SubmittedData['pool'];
  readonly tenantId: string;
}

/** The worker that claims, as its events name it, and the lifetime of a claim without renewal. */
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

/** The reconciler acts only if the call's timer is due by the Redis clock and the fence has not moved since its read. */
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
  /** Deadline of the queue wait or of the running attempt, Redis ms. */
  readonly deadline: number;
  /** Deadline of the whole call, Redis ms. */
  readonly totalDeadline: number;
  readonly leaseUntil: number;
  readonly submittedAt: number;
  readonly firstStartedAt: number;
  /** Sequence numbers of the events that change the call (`changesCall`), oldest first. */
  readonly lifecycleSeqs: readonly number[];
  readonly lastSeq: number;
  readonly meta: CallMeta;
  readonly pool: SubmittedData['pool'];
  /** Queue of its jobs: that of its pool, or of the source of its tool. */
  readonly queue: string;
  readonly priority: SubmittedData['priority'];
  readonly effect: SubmittedData['effect'];
  readonly maxAttempts: number;
}

/** Lua that claims the calls of jobs in the script that dequeues the jobs; a `DequeueHook` of libs/queue. */
export interface DequeueClaimHook {
  /** Defines `onDequeue(jobs, args)`, see claim-on-dequeue.lua. */
  readonly lua: string;
  readonly args: readonly string[];
}

/** Answer of that Lua for one call. `lost`: the script may have run, but its answer never came. */
export type DequeueClaim = { readonly kind: 'answered'; readonly shared: unknown; readonly own: unknown } | { readonly kind: 'lost' };

/**
 * Writer of the log: each method is one transition of the state machine, and transitions of one tick travel to Redis in one
 * script. Methods reject only if Redis stays unreachable (`EventLogUnavailable`) or refuses writes above maxmemory
 * (`EventLogFull`); a rejected transition is an answer, not an error.
 */
export interface EventLogWriter {
  newCallId(tenantId: string, rootId?: string): string;
  /**
   * Calls `sent` once, when the transition has been written to the connection, before its answer: Redis reads writes that
   * `sent` makes on the same connection after the accept.
   */
  accept(call: NewCall, sent?: () => void): Promise<AcceptAnswer>;
  /**
   * `dequeueClaim`: answer of the script of `claimOnDequeue`, if the call was claimed when its job was dequeued. `token` names
   * the claim: another process with the same token is granted the running attempt, with the same fence. Default: a token that
   * only this writer knows.
   */
  claim(
    input: WorkerIdentity & { callId: string; attempt: number; token?: string },
    dequeueClaim?: DequeueClaim,
  ): Promise<Claimed | Rejection>;
  /** Lets a queue claim the calls of jobs in the script that dequeues the jobs. */
  claimOnDequeue(claimant: WorkerIdentity): DequeueClaimHook;
  /** `updates`: digest of all updates of the call including this one, from `UpdatesDigest`; without it the End of the call has none. */
  update(input: {
    callId: string;
    guard: WorkerGuard;
    data: UpdateData;
    updates?: string;
    author: EventOrigin;
  }): Promise<Applied | Rejection>;
  progress(input: { callId: string; guard: WorkerGuard; data: ProgressData; author: EventOrigin }): Promise<Applied | Rejection>;
  /** Writes a hook run of the worker. Hook runs of the gateway come with `accept`, `end` and `decideApproval`. */
  hook(input: { callId: string; guard: WorkerGuard; data: HookRunData; author: EventOrigin }): Promise<Applied | Rejection>;
  /** Writes a turn of a sub-agent. */
  turn(input: { callId: string; guard: WorkerGuard; data: TurnData; author: EventOrigin }): Promise<Applied | Rejection>;
  /** Renews the lease, without an event. The answer contains whether a cancel was requested meanwhile. */
  renew(input: { callId: string; fence: number; leaseMs: number }): Promise<{ code: 'OK'; cancelRequested: boolean } | Rejection>;
  retry(input: {
    callId: string;
    guard: WorkerGuard | ReconcilerGuard;
    data: RetryData;
    countsAsFailure: boolean;
    author: EventOrigin;
  }): Promise<Applied | Rejection>;
  /**
   * Ends the attempt, and frees the worker. With `until` children the End of a child wakes the call; if a child ended while the
   * attempt ran, the call is due at once. `data.delayMs` bounds the wait. `keptBytes`: what Redis keeps of the attempt beside the
   * state, such as its updates. @throws EventLogTenantFull when the tenant has no room for both
   */
  suspend(input: {
    callId: string;
    guard: WorkerGuard;
    data: RetryData;
    keptBytes?: number;
    author: EventOrigin;
  }): Promise<Applied | Rejection>;
  /** Suspends the call until a person or a program gives a value. `keptBytes` and errors as of `suspend`. */
  requestInput(input: {
    callId: string;
    guard: WorkerGuard;
    data: InputRequestedData;
    keptBytes?: number;
    author: EventOrigin;
  }): Promise<Applied | Rejection>;
  /** Queues a call that waits for input. @throws EventLogTenantFull when the tenant has no room for what is stored of it */
  giveInput(input: { callId: string; guard: CommandGuard; data: InputGivenData; author: EventOrigin }): Promise<Applied | Rejection>;
  /**
   * Makes a call due that is suspended until its children end; a running call becomes due as soon as it suspends itself so.
   * Sends no event. Safe to repeat; changes nothing of other calls.
   */
  wake(callId: string): Promise<{ code: 'OK' } | Rejection>;
  /** Calls `sent` as `accept` does. The script writes the updates of the call into End: `data.updates` is ignored. */
  end(
    input: {
      callId: string;
      guard: WorkerGuard | ReconcilerGuard | CommandGuard;
      data: EndData;
      /** Hook runs to write before the End; with a CommandGuard only. */
      hookRuns?: readonly HookRunData[];
      author: EventOrigin;
    },
    sent?: () => void,
  ): Promise<Applied | Rejection>;
  /** Requires a running call; a call that does not run yet is ended by `end` with a CommandGuard. */
  requestCancel(input: {
    callId: string;
    guard: CommandGuard;
    data: CancelRequestedData;
    author: EventOrigin;
  }): Promise<Applied | Rejection>;
  /**
   * Writes the hooks that ran for a held approval. Requires a call that waits for approval; the wait continues.
   * @throws EventLogTenantFull when the tenant has no room for `keptBytes`
   */
  holdApproval(input: {
    callId: string;
    guard: CommandGuard;
    hookRuns: readonly HookRunData[];
    /** Of edited arguments that are to be stored beside the log: they count until the call ends. */
    keptBytes?: number;
    author: EventOrigin;
  }): Promise<Applied | Rejection>;
  /** `allow` queues the call; `deny` comes with the End in the same transition. */
  decideApproval(input: {
    callId: string;
    guard: CommandGuard;
    data: ApprovalDecidedData;
    end?: EndData;
    /** Hook runs to write before the decision. */
    hookRuns?: readonly HookRunData[];
    author: EventOrigin;
  }): Promise<Applied | Rejection>;
  /** Moves the timer of a queued call after it was dispatched again, without an event. */
  deferDispatch(input: { callId: string; fence: number; delayMs: number }): Promise<{ code: 'OK' } | Rejection>;
  close(): Promise<void>;
}

/**
 * An event as readers get it: facts for routing, and the ready CloudEvents JSON text. Events of sessions, workers and sources
 * have no call (`callId` and `meta.tool` are empty); events of workers are for all tenants (`meta.tenantId` is empty).
 */
export interface StoredEvent {
  readonly partition: string;
  readonly epoch: number;
  readonly seq: number;
  /** Empty for events of sessions, workers and sources. */
  readonly callId: string;
  readonly type: EventType | AdminType;
  readonly time: number;
  readonly meta: CallMeta;
  /** Approximate number of characters of `json`. */
  readonly size: number;
  /** The whole envelope as JSON text, composed on first use: most events are never delivered. */
  readonly json: string;
}
