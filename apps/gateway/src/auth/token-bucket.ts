/**
 * Rate limit with a burst. Not `rate-limiter-flexible`, which counts the keys in Redis: its memory limiter returns a promise
 * and counts in fixed windows, and each frame of a socket is checked synchronously here.
 */
export class TokenBucket {
  private left: number;
  private at: number;

  constructor(
    private readonly burst: number,
    private readonly perSecond: number,
    now = performance.now(),
  ) {
    this.left = burst;
    this.at = now;
  }

  /** Takes one token. False when none is left. */
  take(now = performance.now()): boolean {
    this.left = Math.min(this.burst, this.left + ((now - this.at) / 1000) * this.perSecond);
    this.at = now;
    if (this.left < 1) return false;
    this.left -= 1;
    return true;
  }
}
