import type { WebSocket } from 'ws';

export interface FlowLimits {
  /** Frames that may be held while a token is verified. */
  readonly burst: number;
  /** Frames that are being handled; at this number the socket is not read. */
  readonly inFlight: number;
}

/**
 * Keeps the frames of one socket in the order in which they came, although a token may be verified by another server
 * and rates are counted in Redis. Stops reading the socket while too many frames are handled.
 */
export class FrameFlow {
  private inFlight = 0;
  /** Frames that came while a token is verified. */
  private held: (() => void)[] | undefined;
  /** The last frame's check, while it or an earlier one is pending. */
  private lastCheck: Promise<boolean> | undefined;

  constructor(
    private readonly socket: Pick<WebSocket, 'pause' | 'resume' | 'isPaused'>,
    private readonly limits: FlowLimits,
    private readonly onFlood: () => void,
  ) {}

  /** Handles a frame at once, or when the token before it has been verified. */
  inOrder(handle: () => void): void {
    if (this.held === undefined) handle();
    else if (this.held.length < this.limits.burst) this.held.push(handle);
    else this.onFlood();
  }

  /** Holds the frames that follow until `step` is over. `step` never rejects. */
  async holdDuring(step: Promise<void>): Promise<void> {
    this.held = [];
    this.socket.pause();
    await step;
    const { held } = this;
    this.held = undefined;
    for (const handle of held) this.inOrder(handle);
    if (this.held === undefined) this.socket.resume();
  }

  /** Counts a frame that is being handled: too many at once stop the reading. `handling` never rejects. */
  track(handling: Promise<unknown>): void {
    const { inFlight: most } = this.limits;
    this.inFlight += 1;
    if (this.inFlight >= most) this.socket.pause();
    void handling.finally(() => {
      this.inFlight -= 1;
      if (this.socket.isPaused && this.inFlight <= most / 2) this.socket.resume();
    });
  }

  /**
   * Lets frames pass their check in the order in which they came: a frame waits for earlier ones whose rate is being
   * counted in Redis. The checks themselves run at the same time. True at once when nothing is pending.
   */
  passInOrder(check: Promise<boolean> | undefined): boolean | Promise<boolean> {
    const before = this.lastCheck;
    if (before === undefined && check === undefined) return true;
    const passed: Promise<boolean> = Promise.allSettled([before, check]).then(() => check ?? true);
    this.lastCheck = passed;
    const forget = () => {
      if (this.lastCheck === passed) this.lastCheck = undefined;
    };
    passed.then(forget, forget);
    return passed;
  }
}
