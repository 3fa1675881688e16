import {
  ProblemError,
  WORKER_LIMITS,
  type Pool,
  type WorkerCall,
  type WorkerFrame,
  type WorkerFrameOf,
  type WorkerServerFrame,
} from '#contracts';

/** How many ended attempts a session remembers, to answer repetitions of `finish` alike. */
const REMEMBERED = 2_000;

/** A frame about a call that this session has. */
export type CallFrame = WorkerFrameOf<'started' | 'update' | 'progress' | 'finish' | 'suspend'>;

export type SessionEffect =
  | { readonly kind: 'send'; readonly frame: WorkerServerFrame }
  /** About a call of this session, with its fence; never a repetition. */
  | { readonly kind: 'call'; readonly frame: CallFrame }
  | { readonly kind: 'renewed'; readonly callId: string; readonly fence: number }
  /**
   * About a call that this session does not have: another connection, or another gateway, may have had it. Frames about
   * it wait for `attach`, `answer` or `forget`.
   */
  | { readonly kind: 'unknown'; readonly callId: string; readonly fence: number }
  | { readonly kind: 'tools'; readonly frame: WorkerFrameOf<'tools'> }
  /** More calls may come, or none any more. */
  | { readonly kind: 'capacity' }
  | { readonly kind: 'bye' };

/** Frames that wait while the bridge looks for their call. */
const WAITING_FRAMES = 1_000;

interface SessionCall {
  readonly fence: number;
  readonly pool: Pool;
  /** It came from a queue of this gateway, and holds a slot of it. */
  readonly fromQueue: boolean;
  wseq: number;
  finished: boolean;
}

/**
 * The protocol state of one connection of a worker: credit, calls, answers. Its input are frames and decisions of the
 * bridge, its output are effects. It has no timers and does no I/O.
 *
 * - A call is sent only for credit, each at most once.
 * - A frame with another fence than that of the call changes nothing and is answered by `stale`.
 * - `finish` is answered when the attempt is written. A repetition is answered as the first one.
 */
export class WorkerSession {
  private readonly credit = new Map<Pool, number>();
  private readonly calls = new Map<string, SessionCall>();
  /** The oldest is forgotten first. A Map, since an LRUCache would take the memory for all answers at once, for each connection. */
  private readonly answered = new Map<string, 'done' | 'stale'>();
  private readonly wanted = new Map<string, CallFrame[]>();
  private phase: 'open' | 'draining' | 'closed' = 'open';

  /** How many calls of a pool may be sent now. */
  creditOf(pool: Pool): number {
    return this.phase === 'open' ? (this.credit.get(pool) ?? 0) : 0;
  }

  runningOf(pool: Pool): number {
    return [...this.calls.values()].filter((call) => call.pool === pool).length;
  }

  /** Jobs of the pool's queue that this session may have at a time. */
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

  /** @throws Error without credit: the bridge asks `creditOf` first */
  assign(call: WorkerCall, pool: Pool): SessionEffect[] {
    const credit = this.creditOf(pool);
    if (credit < 1) throw new Error(`The worker has no credit for the pool ${pool}.`);
    this.credit.set(pool, credit - 1);
    this.calls.set(call.callId, { fence: call.fence, pool, fromQueue: true, wseq: 0, finished: false });
    return [send(call)];
  }

  /** Goes on with a call that the worker ran on an earlier connection. It uses no credit. Frames that waited for it count now. */
  attach(callId: string, fence: number, pool: Pool, { fromQueue = false, wseq = 0 } = {}): SessionEffect[] {
    const frames = this.takeWaiting(callId, fence);
    if (this.phase === 'closed' || this.calls.has(callId)) return [];
    this.calls.set(callId, { fence, pool, fromQueue, wseq, finished: false });
    return frames.flatMap((frame) => this.aboutCall(frame));
  }

  /** The worker reconnected and goes on with the call there. Returns what `attach` needs to know of it. */
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

  /** The attempt is over. `done`: what the worker said about it is written. */
  settle(callId: string, fence: number, how: 'done' | 'stale'): SessionEffect[] {
    if (this.calls.get(callId)?.fence === fence) this.calls.delete(callId);
    this.remember(callId, fence, how);
    return [send({ op: how, callId, fence }), { kind: 'capacity' }];
  }

  /** The answer about a call that this session does not have. `done`: what the worker says about it was written before. */
  answer(callId: string, fence: number, how: 'done' | 'stale'): SessionEffect[] {
    const isEnd = this.takeWaiting(callId, fence).some(({ op }) => op === 'finish' || op === 'suspend');
    this.remember(callId, fence, how);
    return [send({ op: isEnd ? how : 'stale', callId, fence })];
  }

  /** Redis is out of reach, or another connection asks about it too. Nothing is sent: the worker's next frame about the call asks again. */
  forget(callId: string, fence: number): void {
    this.takeWaiting(callId, fence);
  }

  /** No more calls from this gateway. */
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

  /** Asks the bridge once about a call, and keeps frames about it until the bridge knows. */
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
    // A repetition: the answer to the first one comes when the attempt is written.
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
  return send({ op: 'refused', problem: new ProblemError(code, detail).toProblem(), ...(callId === undefined ? {} : { callId }) });
}
