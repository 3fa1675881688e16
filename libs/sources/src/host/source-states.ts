import type { AnnouncedSource, NoticeData, SourceNoticeType } from '#contracts';

/** Most events of one source: an unstable one must not fill the log. */
const MOST_EVENTS = 30;
const WINDOW_MS = 600_000;

export type ReportState = <T extends SourceNoticeType>(type: T, data: NoticeData<T>) => void;
type Tools = readonly Pick<AnnouncedSource['tools'][number], 'rawName' | 'digest'>[];
type State = 'unknown' | 'loading' | 'ready' | 'failed' | 'exited';

/**
 * The state of a source as the worker that leads it knows it. Each change is reported once. A change beyond the bound is
 * not taken over, so that it is reported by a later read if it still holds.
 */
export class SourceStates {
  private state: State = 'unknown';
  private digests: ReadonlyMap<string, string> = new Map();
  private readonly reportedAt: number[] = [];

  constructor(
    private readonly kind: AnnouncedSource['kind'],
    private readonly report: ReportState,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Takes over what the worker that led before had announced. */
  begin(entry: Pick<AnnouncedSource, 'status' | 'tools'> | undefined): void {
    this.state = entry === undefined ? 'unknown' : entry.status === 'ok' ? 'ready' : 'failed';
    this.digests = digestsOf(entry?.tools ?? []);
  }

  /** Enters `loading` before the first read. */
  loading(): void {
    if (this.state === 'unknown') this.enter('loading', 'source.loading', { kind: this.kind });
  }

  read(tools: Tools): void {
    const { kind, digests: before } = this;
    const after = digestsOf(tools);
    if (this.state !== 'ready') {
      if (this.enter('ready', 'source.ready', { kind, tools: tools.length })) this.digests = after;
      return;
    }
    const names = [...after.keys()];
    const added = names.filter((name) => !before.has(name)).length;
    const changed = names.filter((name) => before.has(name) && before.get(name) !== after.get(name)).length;
    const removed = [...before.keys()].filter((name) => !after.has(name)).length;
    if (added + changed + removed === 0) return;
    if (this.enter('ready', 'source.changed', { kind, added, changed, removed })) this.digests = after;
  }

  failed(): void {
    if (this.state !== 'failed') this.enter('failed', 'source.failed', { kind: this.kind });
  }

  exited(): void {
    if (this.state === 'ready') this.enter('exited', 'source.exited', { kind: this.kind });
  }

  private enter<T extends SourceNoticeType>(state: State, type: T, data: NoticeData<T>): boolean {
    const now = this.now();
    while (now - (this.reportedAt[0] ?? now) > WINDOW_MS) this.reportedAt.shift();
    if (this.reportedAt.length >= MOST_EVENTS) return false;
    this.reportedAt.push(now);
    this.state = state;
    this.report(type, data);
    return true;
  }
}

function digestsOf(tools: Tools): ReadonlyMap<string, string> {
  return new Map(tools.map(({ rawName, digest }) => [rawName, digest]));
}
