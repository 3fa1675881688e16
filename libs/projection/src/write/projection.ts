import type { RedisConnection } from '#redis';
import type { LogEntry, LogSource } from '#history';
import { Draft } from './draft.js';
import { foldEvents } from './fold-events.js';
import { applyBatch, beginAnew, readViewState, retire, type ViewState } from './view-state.js';
import { writeChanges } from './write-changes.js';

/** What one step brought. `more`: the log has not been read to its end. `lagMs`: from the time of its oldest event to now. */
export interface Advance {
  readonly entries: number;
  readonly more: boolean;
  readonly lagMs: number;
}

const NOTHING: Advance = { entries: 0, more: false, lagMs: 0 };

/**
 * Moves the projection of one partition along its log. A step:
 * 1. read on from the checkpoint, its own entry first: is it still there, in the same epoch? If not, begin anew;
 * 2. fold the events into records, and those into what is stored;
 * 3. write all of it and the new checkpoint in one script, if the checkpoint is still the old one.
 * So a writer that dies in the middle has done nothing, and of two at once one is told to look again.
 */
export class PartitionProjection {
  constructor(
    private readonly redis: RedisConnection,
    private readonly log: LogSource,
    private readonly partition: string,
    private readonly batch: number,
  ) {}

  async advance(): Promise<Advance> {
    const state = await readViewState(this.redis, this.partition);
    // The entry at the checkpoint is read again to see that it is the same; nothing is there at the beginning.
    const from = state === undefined || state.seq === 0 ? 1 : state.seq;
    const { epoch, entries } = await this.log.read(this.partition, from, this.batch + 1);
    if (state === undefined) return this.begin(epoch);
    if (epoch !== state.epoch || !(await this.continues(state, entries))) {
      await retire(this.redis, this.partition, state);
      return this.begin(epoch);
    }
    const fresh = entries.filter(({ seq }) => seq > state.seq);
    const last = fresh.at(-1);
    if (last === undefined) return NOTHING;
    const applied = await this.project(state, fresh, last);
    const oldest = fresh.find(({ event }) => event !== undefined)?.event;
    const lagMs = oldest === undefined ? 0 : Math.max(0, Date.now() - Date.parse(oldest.time));
    return { entries: applied ? fresh.length : 0, more: fresh.length >= this.batch || !applied, lagMs };
  }

  /** Whether the log still is the one that was read; its beginning may have been trimmed away, which changes nothing here. */
  private async continues({ seq, mark }: ViewState, [first]: readonly LogEntry[]): Promise<boolean> {
    if (seq === 0) return true;
    if (first?.seq === seq) return first.mark === mark;
    return (await this.log.end(this.partition)) >= seq;
  }

  private async project(state: ViewState, entries: readonly LogEntry[], last: LogEntry): Promise<boolean> {
    const draft = new Draft(this.redis);
    const events = entries.flatMap(({ event }) => (event === undefined ? [] : [event]));
    if (events.length > 0) await writeChanges(draft, this.partition, await foldEvents(draft, this.partition, events));
    return applyBatch(this.redis, this.partition, state, last, draft.commands());
  }

  private async begin(epoch: number): Promise<Advance> {
    await beginAnew(this.redis, this.partition, epoch);
    return { entries: 0, more: true, lagMs: 0 };
  }
}
