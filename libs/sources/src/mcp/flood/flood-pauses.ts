import type { StoredSource } from '#contracts';
import { backoffMs } from '../../host/backoff.js';
import { sourceKey } from '../../source-id.js';

/** A server that behaves for this long begins again with the shortest pause. */
const FORGIVEN_AFTER_MS = 600_000;

interface Pause {
  readonly floods: number;
  readonly since: number;
  readonly until: number;
}

/**
 * Sources that were stopped since their servers sent too much. They wait longer each time: unlike after other failures, a
 * list that was read in between proves nothing.
 */
export class FloodPauses {
  private readonly pauses = new Map<string, Pause>();

  constructor(
    private readonly now: () => number = () => performance.now(),
    private readonly random: () => number = Math.random,
  ) {}

  begin(source: StoredSource): void {
    const now = this.now();
    const before = this.pauses.get(keyOf(source));
    const floods = before === undefined || now - before.since > FORGIVEN_AFTER_MS ? 1 : before.floods + 1;
    this.pauses.set(keyOf(source), { floods, since: now, until: now + backoffMs(floods + 1, this.random) });
  }

  /** @throws Error with the rest of the pause, in words for the operator */
  check(source: StoredSource): void {
    const leftMs = (this.pauses.get(keyOf(source))?.until ?? 0) - this.now();
    if (leftMs > 0) throw new Error(`the server sent too many messages; it is connected again in ${Math.ceil(leftMs / 1_000)} s`);
  }
}

function keyOf({ tenantId, definition: { name } }: StoredSource): string {
  return sourceKey({ tenantId, name });
}
