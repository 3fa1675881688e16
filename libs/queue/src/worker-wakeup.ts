import type { RedisQueueBackend } from 'bullmq';

export type Marker = Awaited<ReturnType<RedisQueueBackend['waitForJob']>>;

/** `waiting`: the Worker's loop found no job and waits for the marker, or for `wake`. */
type Loop = { readonly kind: 'polling' } | { readonly kind: 'waiting'; readonly wake: () => void };
/** `blocking`: a BZPOPMIN on the marker is under way, which outlives the wait that began it. */
type MarkerRead = { readonly kind: 'idle' } | { readonly kind: 'blocking'; readonly marker: Promise<Marker> };

/**
 * Wakes the Worker's loop when jobs may wait: by the marker in Redis or by directly dispatched jobs.
 *
 * Invariants against lost wake-ups:
 * - The queue counts as empty only if the last script or message reported so and the marker was not popped since. Every later
 * add sets the marker unless all its jobs are dispatched directly.
 * - A marker that comes while the loop does not wait is put back for other workers.
 * - A requested poll is kept until the loop has begun to poll for it.
 */
export class WorkerWakeup {
  private loop: Loop = { kind: 'polling' };
  private read: MarkerRead = { kind: 'idle' };
  private queue: 'empty' | 'unknown' = 'unknown';
  private poll: 'none' | 'requested' | 'stopped' = 'none';

  constructor(
    private readonly blockOnMarker: (blockTimeout: number) => Promise<Marker>,
    private readonly putBack: (marker: NonNullable<Marker>) => Promise<unknown>,
  ) {}

  get isQueueEmpty(): boolean {
    return this.queue === 'empty';
  }

  /** Records the state of the queue according to a script. */
  observed(queue: 'empty' | 'unknown'): void {
    this.queue = queue;
  }

  /**
   * Records the state of the queue according to a message. A message is older than a script's answer, so it counts only until
   * the marker comes.
   */
  observedByMessage(queue: 'empty' | 'unknown'): void {
    if (this.read.kind === 'blocking') this.queue = queue;
  }

  /** Ends the loop's wait, after jobs were prefetched. */
  wake(): void {
    if (this.loop.kind === 'waiting') this.loop.wake();
  }

  /** Makes the loop poll Redis once more, now or before its next wait. */
  triggerPoll(): void {
    if (this.poll !== 'stopped') this.poll = 'requested';
    this.wake();
  }

  /** Disables triggered polls. */
  stop(): void {
    this.poll = 'stopped';
  }

  /** Resolves with the marker, or with null if the loop must poll for another reason. */
  async wait(blockTimeout: number, hasPrefetched: boolean): Promise<Marker> {
    if (this.beginsRequestedPoll() || hasPrefetched) return null;
    const woken = new Promise<null>((resolve) => (this.loop = { kind: 'waiting', wake: () => resolve(null) }));
    try {
      const marker = await Promise.race([this.nextMarker(blockTimeout), woken]);
      return this.beginsRequestedPoll() ? null : marker;
    } finally {
      this.loop = { kind: 'polling' };
    }
  }

  private beginsRequestedPoll(): boolean {
    if (this.poll !== 'requested') return false;
    this.poll = 'none';
    this.queue = 'unknown';
    return true;
  }

  private nextMarker(blockTimeout: number): Promise<Marker> {
    if (this.read.kind === 'blocking') return this.read.marker;
    const marker = this.readMarker(blockTimeout);
    this.read = { kind: 'blocking', marker };
    // The read may fail after the loop has stopped waiting.
    marker.catch(() => {});
    return marker;
  }

  private async readMarker(blockTimeout: number): Promise<Marker> {
    try {
      const marker = await this.blockOnMarker(blockTimeout);
      if (marker !== null && this.loop.kind === 'polling') await this.putBack(marker);
      return marker;
    } finally {
      this.read = { kind: 'idle' };
      this.queue = 'unknown';
    }
  }
}
