/** How often something may happen: so many times at once, and so many a second in the long run. */
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

  /** Whether it may happen once more. */
  take(now = performance.now()): boolean {
    this.left = Math.min(this.burst, this.left + ((now - this.at) / 1000) * this.perSecond);
    this.at = now;
    if (this.left < 1) return false;
    this.left -= 1;
    return true;
  }
}
