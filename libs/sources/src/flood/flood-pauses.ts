import { backoffMs } from '../host/backoff.js';
import { sourceKey, type SourceId } from '../source-id.js';

/** A sender that behaves for this long begins again with the shortest pause. */
const FORGIVEN_AFTER_MS = 600_000;

interface Pause {
  readonly floods: number;
  readonly since: number;
  readonly until: number;
}

/**
 * Pauses of sources and workers that were stopped for sending too much, longer each time: unlike after other failures, a
 * successful read of the list in between proves nothing.
 */
export class FloodPauses {
  private readonly pauses = new Map<string, Pause>();

  constructor(
    private readonly now: () => number = () => performance.now(),
    private readonly random: () => number = Math.random,
  ) {}

  /** Returns the length of the pause in ms. */
  begin(id: SourceId): number {
    const now = this.now();
    for (const [key, { since }] of this.pauses) if (now - since > FORGIVEN_AFTER_MS) this.pauses.delete(key);
    const floods = (this.pauses.get(sourceKey(id))?.floods ?? 0) + 1;
    const pauseMs = backoffMs(floods + 1, this.random);
    this.pauses.set(sourceKey(id), { floods, since: now, until: now + pauseMs });
    return pauseMs;
  }

  /** Milliseconds until the end of the pause; 0 without one. */
  leftMs(id: SourceId): number {
    return Math.max(0, (this.pauses.get(sourceKey(id))?.until ?? 0) - this.now());
  }
}
