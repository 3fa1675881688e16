import type { WebSocket } from 'ws';

export interface FlowLimits {
  /** Most frames held while a token is verified. */
  readonly burst: number;
  /** Most frames handled concurrently; at this number the socket is paused. */
  readonly inFlight: number;
}

/**
 * Keeps the frames of one socket in order, although another server may verify a token and Redis counts rates. Pauses the socket
 * while too many frames are handled.
 */
export class FrameFlow {
  private inFlight = 0;
  /** Frames received while a token is verified or a large frame waits for its turn. */
  private held: (() => void)[] | undefined;
  /** Steps under way that hold frames: a large frame may bring a token. */
  private holders = 0;
  /** Check of the last frame, while it or an earlier one is pending. */
  private lastCheck: Promise<boolean> | undefined;

  constructor(
    private readonly socket: Pick<WebSocket, 'pause' | 'resume' | 'isPaused'>,
    private readonly limits: FlowLimits,
    private readonly onFlood: () => void,
  ) {}

  /** Handles a frame at once, or after the verification of the preceding token. */
  inOrder(handle: () => void): void {
    if (this.held === undefined) handle();
    else if (this.held.length < this.limits.burst) this.held.push(handle);
    else this.onFlood();
  }

  /** Holds later frames until `step` is over. `step` never rejects. */
  async holdDuring(step: Promise<void>): Promise<void> {
    this.held ??= [];
    this.holders += 1;
    this.socket.pause();
    await step;
    this.holders -= 1;
    if (this.holders > 0) return;
    const { held } = this;
    this.held = undefined;
    for (const handle of held) this.inOrder(handle);
    if (this.held === undefined) this.socket.resume();
  }

  /** Counts a frame during its handling: too many pause the socket. `handling` never rejects. */
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
   * Lets frames pass their check in order: a frame waits for earlier ones whose rate is being counted in Redis. The checks
   * themselves run concurrently. True at once if nothing is pending.
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
