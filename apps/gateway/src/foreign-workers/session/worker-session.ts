import {
  ProblemError,
  WORKER_LIMITS,
  type Pool,
  type WorkerCall,
  type WorkerFrame,
  type WorkerFrameOf,
  type WorkerServerFrame,
} from '#contracts';

/** Number of ended attempts that a session remembers, for equal answers to repetitions of `finish`. */
const REMEMBERED = 2_000;

/** Frame about a call of this session. */
export type CallFrame = WorkerFrameOf<'started' | 'update' | 'progress' | 'finish' | 'suspend'>;

export type SessionEffect =
  | { readonly kind: 'send'; readonly frame: WorkerServerFrame }
  /** Frame about a call of this session, with its fence; never a repetition. */
  | { readonly kind: 'call'; readonly frame: CallFrame }
  | { readonly kind: 'renewed'; readonly callId: string; readonly fence: number }
  /**
   * Reports a call that this session does not have: another connection or gateway may have had it. Frames about it wait for
   * `attach`, `answer` or `forget`.
   */
  | { readonly kind: 'unknown'; readonly callId: string; readonly fence: number }
  | { readonly kind: 'tools'; readonly frame: WorkerFrameOf<'tools'> }
  /** Signals a change of capacity, possibly to none. */
  | { readonly kind: 'capacity' }
  | { readonly kind: 'bye' };

/** Most frames that wait while the bridge looks for their call. */
const WAITING_FRAMES = 1_000;

interface SessionCall {
  readonly fence: number;
  readonly pool: Pool;
  /** True for a call from a queue of this gateway, which holds one of its slots. */
  readonly fromQueue: boolean;
  wseq: number;
  finished: boolean;
}

/**
 * Protocol state of one connection of a worker: credit, calls, answers. Its inputs are frames and decisions of the bridge, its
 * outputs are effects. Has no timers and does no I/O.
 *
 * - A call is sent only for credit, and at most once.
 * - A frame with another fence than the call's changes nothing and is answered by `stale`.
 * - `finish` is answered when the attempt is written. A repetition gets the same answer.
 */
export class WorkerSession {
  private readonly credit = new Map<Pool, number>();
  private readonly calls = new Map<string, SessionCall>();
  /**
   * Answers, of which the oldest is dropped first. A Map, since an LRUCache would allocate the memory for all answers at once,
   * for each connection.
   */
  private readonly answered = new Map<string, 'done' | 'stale'>();
  private readonly wanted = new Map<string, CallFrame[]>();
  private phase: 'open' | 'draining' | 'closed' = 'open';

  /** Number of calls of a pool that may be sent now. */
  creditOf(pool: Pool): number {
    return this.phase === 'open' ? (this.credit.get(pool) ?? 0) : 0;
  }

  runningOf(pool: Pool): number {
    return [...this.calls.values()].filter((call) => call.pool === pool).length;
  }

  /** Most concurrent jobs of the pool's queue for this session. */
  slotsOf(pool: Pool): number {
    return this.creditOf(pool) + [...this.calls.values()].filter((call) => call.pool === pool && call.fromQueue).length;
  }

  get draining(): boolean {
    return this.phase !== 'open';
  }

  callIds(): string[] {
    return [...this.calls.keys()];
  }

  receive(frame: WorkerFrame): SessionEffect[] {
    switch (frame.op) {
      case 'hello':
        return [refused('conflict', 'Expected one hello for a connection; got another. Close the connection and connect again.')];
      case 'credit':
        return this.addCredit(frame);
      case 'renew':
        return this.renew(frame);
      case 'started':
      case 'update':
      case 'progress':
      case 'finish':
      case 'suspend':
        return this.aboutCall(frame);
      case 'tools':
        return [{ kind: 'tools', frame }];
      case 'drain':
        if (this.phase === 'open') this.phase = 'draining';
        return [{ kind: 'capacity' }];
      case 'bye':
        this.phase = 'closed';
        return [{ kind: 'bye' }];
      case 'pong':
        return [];
    }
  }

  /** @throws Error without credit: the bridge checks `creditOf` first */
  assign(call: WorkerCall, pool: Pool): SessionEffect[] {
    const credit = this.creditOf(pool);
    if (credit < 1) throw new Error(`The worker has no credit for the pool ${pool}.`);
    this.credit.set(pool, credit - 1);
    this.calls.set(call.callId, { fence: call.fence, pool, fromQueue: true, wseq: 0, finished: false });
    return [send(call)];
  }

  /** Continues a call that the worker ran on an earlier connection, without credit. Processes the frames that waited for it. */
  attach(callId: string, fence: number, pool: Pool, { fromQueue = false, wseq = 0 } = {}): SessionEffect[] {
    const frames = this.takeWaiting(callId, fence);
    if (this.phase === 'closed' || this.calls.has(callId)) return [];
    this.calls.set(callId, { fence, pool, fromQueue, wseq, finished: false });
    return frames.flatMap((frame) => this.aboutCall(frame));
  }

  /** Releases a call that the worker continues on a new connection. Returns the arguments for `attach`. */
  detach(callId: string, fence: number): { fromQueue: boolean; wseq: number } | undefined {
    const call = this.calls.get(callId);
    if (call?.fence !== fence) return undefined;
    this.calls.delete(callId);
    return call;
  }

  cancel(callId: string, fence: number, reason: WorkerServerFrameReason, graceMs: number): SessionEffect[] {
    const call = this.calls.get(callId);
    if (call === undefined || call.fence !== fence || call.finished) return [];
    return [send({ op: 'cancel', callId, fence, reason, graceMs })];
  }

  /** Ends the attempt. `done`: the worker's result is written. */
  settle(callId: string, fence: number, how: 'done' | 'stale'): SessionEffect[] {
    if (this.calls.get(callId)?.fence === fence) this.calls.delete(callId);
    this.remember(callId, fence, how);
    return [send({ op: how, callId, fence }), { kind: 'capacity' }];
  }

  /** Answers frames about a call that this session does not have. `done`: the worker's result was written before. */
  answer(callId: string, fence: number, how: 'done' | 'stale'): SessionEffect[] {
    const isEnd = this.takeWaiting(callId, fence).some(({ op }) => op === 'finish' || op === 'suspend');
    this.remember(callId, fence, how);
    return [send({ op: isEnd ? how : 'stale', callId, fence })];
  }

  /**
   * Drops the waiting frames without an answer, if Redis is unreachable or another connection also looks for the call: the
   * worker's next frame about it repeats the search.
   */
  forget(callId: string, fence: number): void {
    this.takeWaiting(callId, fence);
  }

  /** Stops new calls from this gateway. */
  drain(): SessionEffect[] {
    if (this.phase !== 'open') return [];
    this.phase = 'draining';
    return [send({ op: 'drain' }), { kind: 'capacity' }];
  }

  private addCredit({ pool, n }: WorkerFrameOf<'credit'>): SessionEffect[] {
    if (this.phase !== 'open') return [];
    const credit = (this.credit.get(pool) ?? 0) + n;
    if (credit > WORKER_LIMITS.credit) {
      const detail = `Expected at most ${WORKER_LIMITS.credit} credit in a pool; got ${credit} for ${pool}. The frame is ignored.`;
      return [refused('invalid_request', detail)];
    }
    this.credit.set(pool, credit);
    return [{ kind: 'capacity' }];
  }

  private renew({ callIds, fences }: WorkerFrameOf<'renew'>): SessionEffect[] {
    if (callIds.length !== fences.length) {
      const detail = `Expected a fence for each call; got ${callIds.length} calls and ${fences.length} fences.`;
      return [refused('invalid_request', detail)];
    }
    return callIds.flatMap((callId, index): SessionEffect[] => {
      const fence = fences[index] ?? 0;
      const call = this.calls.get(callId);
      if (call !== undefined) return call.fence === fence ? [{ kind: 'renewed', callId, fence }] : [stale(callId, fence)];
      return this.answered.has(keyOf(callId, fence)) ? [stale(callId, fence)] : this.lookFor(callId, fence);
    });
  }

  /** Requests a call from the bridge once, and holds frames about it until the answer. */
  private lookFor(callId: string, fence: number, ...frames: CallFrame[]): SessionEffect[] {
    const key = keyOf(callId, fence);
    const waiting = this.wanted.get(key);
    if ((waiting?.length ?? this.wanted.size) >= WAITING_FRAMES)
      return [
        refused('overloaded', `More than ${WAITING_FRAMES} frames wait for calls of earlier connections. Send it again later.`, callId),
      ];
    if (waiting === undefined) this.wanted.set(key, frames);
    else waiting.push(...frames);
    return waiting === undefined ? [{ kind: 'unknown', callId, fence }] : [];
  }

  private takeWaiting(callId: string, fence: number): CallFrame[] {
    const key = keyOf(callId, fence);
    const frames = this.wanted.get(key) ?? [];
    this.wanted.delete(key);
    return frames;
  }

  private aboutCall(frame: CallFrame): SessionEffect[] {
    const { callId, fence } = frame;
    const call = this.calls.get(callId);
    if (call === undefined) return this.aboutOther(frame);
    if (call.fence !== fence) return [stale(callId, fence)];
    // Ignores a repetition: the answer to the first frame comes when the attempt is written.
    if (call.finished) return [];
    if (frame.op === 'suspend' && frame.resumeInMs === undefined && frame.until === undefined)
      return [refused('invalid_request', 'A suspension without a time or a reason; expected resumeInMs or until.', callId)];
    if ('wseq' in frame) {
      if (frame.op === 'update' && frame.wseq <= call.wseq) return [];
      call.wseq = Math.max(call.wseq, frame.wseq);
    }
    if (frame.op === 'finish' || frame.op === 'suspend') call.finished = true;
    return [{ kind: 'call', frame }];
  }

  private aboutOther(frame: CallFrame): SessionEffect[] {
    const { callId, fence } = frame;
    const before = this.answered.get(keyOf(callId, fence));
    if (before !== undefined) return [send({ op: frame.op === 'finish' || frame.op === 'suspend' ? before : 'stale', callId, fence })];
    return this.lookFor(callId, fence, frame);
  }

  private remember(callId: string, fence: number, how: 'done' | 'stale'): void {
    this.answered.set(keyOf(callId, fence), how);
    const [oldest] = this.answered.keys();
    if (this.answered.size > REMEMBERED && oldest !== undefined) this.answered.delete(oldest);
  }
}

export type WorkerServerFrameReason = Extract<WorkerServerFrame, { op: 'cancel' }>['reason'];

function keyOf(callId: string, fence: number): string {
  return `${callId}/${fence}`;
}

function send(frame: WorkerServerFrame): SessionEffect {
  return { kind: 'send', frame };
}

function stale(callId: string, fence: number): SessionEffect {
  return send({ op: 'stale', callId, fence });
}

function refused(code: ConstructorParameters<typeof ProblemError>[0], detail: string, callId?: string): SessionEffect {
  return send({ op: 'refused', problem: new ProblemError(code, detail).toProblem(), callId });
}
