import type { Pool, WorkerFrame, WorkerFrameOf, WorkerHello, WorkerServerFrame } from '#contracts';
import { Changes, CheckFailed } from './changes.js';

/** How frames reach the worker. */
export interface CheckTransport {
  readonly kind: 'websocket' | 'poll';
  send(frame: WorkerServerFrame | object): void;
  /** Closes the connection without a frame, like a gateway that dies. */
  cut(): void;
}

/** Connection of the worker under test, after its hello. Stores every frame. */
export class CheckConnection {
  /** All frames, in order. */
  readonly received: WorkerFrame[] = [];
  /** Violations of the protocol by the worker. */
  readonly faults: string[] = [];
  readonly credit = new Map<Pool, number>();
  isClosed = false;
  /** Answers `finish` and `suspend` by `done`. */
  answers = true;
  private readonly stale = new Set<string>();
  private at = 0;

  constructor(
    readonly hello: WorkerHello,
    readonly transport: CheckTransport,
    private readonly changes: Changes,
  ) {}

  take(frame: WorkerFrame): void {
    this.received.push(frame);
    if (frame.op === 'credit') this.addCredit(frame);
    if (frame.op === 'hello') this.faults.push('a second hello on one connection');
    if ('fence' in frame && this.stale.has(`${frame.callId}/${frame.fence}`))
      this.send({ op: 'stale', callId: frame.callId, fence: frame.fence });
    else if (this.answers && (frame.op === 'finish' || frame.op === 'suspend')) this.done(frame);
    this.changes.happened();
  }

  send(frame: WorkerServerFrame | object): void {
    if (!this.isClosed) this.transport.send(frame);
  }

  done({ callId, fence }: { readonly callId: string; readonly fence: number }): void {
    this.send({ op: 'done', callId, fence });
  }

  /** The attempt is not of the worker any more; every frame about it is answered so. */
  makeStale({ callId, fence }: { readonly callId: string; readonly fence: number }): void {
    this.stale.add(`${callId}/${fence}`);
    this.send({ op: 'stale', callId, fence });
  }

  cut(): void {
    this.isClosed = true;
    this.transport.cut();
    this.changes.happened();
  }

  closed(): void {
    this.isClosed = true;
    this.changes.happened();
  }

  /** The next frame of this kind that fits and that no earlier `next` returned or skipped. */
  next<Op extends WorkerFrame['op']>(op: Op, fits: (frame: WorkerFrameOf<Op>) => boolean = () => true): Promise<WorkerFrameOf<Op>> {
    const from = this.at;
    return this.changes.until(
      () => {
        for (let n = from; n < this.received.length; n++) {
          const frame = this.received[n];
          if (frame !== undefined && isOp(frame, op) && fits(frame)) {
            this.at = Math.max(this.at, n + 1);
            return frame;
          }
        }
        if (this.isClosed) throw new CheckFailed(`Expected a frame ${op}; the worker closed the connection. ${this.seen(from)}`);
        return undefined;
      },
      () => `a frame ${op}; ${this.seen(from)}`,
    );
  }

  /** All frames about an attempt. */
  about({ callId, fence }: { readonly callId: string; readonly fence: number }): (WorkerFrame & { callId: string })[] {
    return this.received.filter((frame): frame is WorkerFrame & { callId: string; fence: number } => {
      return 'fence' in frame && frame.callId === callId && frame.fence === fence;
    });
  }

  private seen(from: number): string {
    const frames = this.received.slice(from).map((frame) => ('fence' in frame ? `${frame.op} of fence ${frame.fence}` : frame.op));
    return `got ${frames.length === 0 ? 'nothing' : frames.slice(-10).join(', ')}`;
  }

  private addCredit({ pool, n }: WorkerFrameOf<'credit'>): void {
    const credit = (this.credit.get(pool) ?? 0) + n;
    this.credit.set(pool, credit);
    if (credit > 1_000) this.faults.push(`credit ${credit} in the pool ${pool}; expected at most 1000`);
  }
}

function isOp<Op extends WorkerFrame['op']>(frame: WorkerFrame, op: Op): frame is WorkerFrameOf<Op> {
  return frame.op === op;
}
