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
  /** About a call that this session does not have. Another connection may have had it. */
  | { readonly kind: 'unknown'; readonly callId: string; readonly fence: number; readonly finish?: WorkerFrameOf<'finish'> }
  | { readonly kind: 'tools'; readonly frame: WorkerFrameOf<'tools'> }
  /** More calls may come, or none any more. */
  | { readonly kind: 'capacity' }
  | { readonly kind: 'bye' };

interface SessionCall {
  readonly fence: number;
  readonly pool: Pool;
  wseq: number;
  finished: boolean;
}

/**
 * What one worker and the gateway have agreed on: credit, calls and what was said about them. Frames and decisions of the
 * bridge come in, effects come out; it has no timers and does no I/O.
 *
 * - A call is sent only for credit, each at most once.
 * - A frame with another fence than that of the call changes nothing and is answered by `stale`.
 * - `finish` is answered when the attempt is written. A repetition is answered as the first one.
 */
export class WorkerSession {
  private readonly credit = new Map<Pool, number>();
  private readonly calls = new Map<string, SessionCall>();
  private readonly answered = new Map<string, 'done' | 'stale'>();
  private phase: 'open' | 'draining' | 'closed' = 'open';

  /** How many calls of a pool may be sent now. */
  creditOf(pool: Pool): number {
    return this.phase === 'open' ? (this.credit.get(pool) ?? 0) : 0;
  }

  runningOf(pool: Pool): number {
    return [...this.calls.values()].filter((call) => call.pool === pool).length;
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
    this.calls.set(call.callId, { fence: call.fence, pool, wseq: 0, finished: false });
    return [send(call)];
  }

  /** Takes over a call that the worker ran on an earlier connection. It uses no credit. */
  attach(callId: string, fence: number, pool: Pool): SessionEffect[] {
    if (this.phase === 'closed' || this.calls.has(callId)) return [];
    this.calls.set(callId, { fence, pool, wseq: 0, finished: false });
    return [];
  }

  /** The worker reconnected and goes on with the call there. */
  detach(callId: string, fence: number): void {
    if (this.calls.get(callId)?.fence === fence) this.calls.delete(callId);
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

  /** The answer about a call that this session does not have. */
  answer(callId: string, fence: number, how: 'done' | 'stale'): SessionEffect[] {
    return [send({ op: how, callId, fence })];
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
    return callIds.map((callId, index): SessionEffect => {
      const fence = fences[index] ?? 0;
      const call = this.calls.get(callId);
      if (call === undefined) return this.answered.has(keyOf(callId, fence)) ? stale(callId, fence) : { kind: 'unknown', callId, fence };
      return call.fence === fence ? { kind: 'renewed', callId, fence } : stale(callId, fence);
    });
  }

  private aboutCall(frame: CallFrame): SessionEffect[] {
    const { callId, fence } = frame;
    const call = this.calls.get(callId);
    if (call === undefined) return this.aboutOther(frame);
    if (call.fence !== fence) return [stale(callId, fence)];
    // A repetition: the answer to the first one comes when the attempt is written.
    if (call.finished) return [];
    if (frame.op === 'suspend' && frame.resumeInMs === undefined)
      return [refused('not_implemented', 'A call cannot wait for input yet; expected resumeInMs.', callId)];
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
    if (frame.op !== 'finish') return [stale(callId, fence)];
    return [{ kind: 'unknown', callId, fence, finish: frame }];
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
