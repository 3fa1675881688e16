import type { RedisQueueBackend } from 'bullmq';

export type Marker = Awaited<ReturnType<RedisQueueBackend['waitForJob']>>;

/** `waiting`: the Worker's loop found no job and waits for the marker, or for `wake`. */
type Loop = { readonly kind: 'polling' } | { readonly kind: 'waiting'; readonly wake: () => void };
/** `blocking`: a BZPOPMIN on the marker is under way. It outlives the wait that began it. */
type MarkerRead = { readonly kind: 'idle' } | { readonly kind: 'blocking'; readonly marker: Promise<Marker> };

/**
 * Wakes the Worker's loop when jobs may be there: by the marker in Redis or by jobs that came directly.
 *
 * Invariants against lost wake-ups:
 * - The queue is taken for empty only if the last script or message said so and the marker was not taken since. Every later
 *   add sets the marker unless all its jobs are dispatched directly.
 * - A marker that comes when the loop does not wait is put back, as another worker may be waiting for it.
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

  /** What a script said about the queue. */
  observed(queue: 'empty' | 'unknown'): void {
    this.queue = queue;
  }

  /** What a message said about the queue. It is older than a script's answer, so it counts only while the marker has not come. */
  observedByMessage(queue: 'empty' | 'unknown'): void {
    if (this.read.kind === 'blocking') this.queue = queue;
  }

  /** Ends the loop's wait: prefetched jobs are there. */
  wake(): void {
    if (this.loop.kind === 'waiting') this.loop.wake();
  }

  /** Makes the loop ask Redis once more, now or before it waits next. */
  triggerPoll(): void {
    if (this.poll !== 'stopped') this.poll = 'requested';
    this.wake();
  }

  /** From now on no poll is triggered. */
  stop(): void {
    this.poll = 'stopped';
  }

  /** Resolves with the marker, or with null when the loop is to poll for another reason. */
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
    // The loop may have stopped waiting when it fails.
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
