import { everyMs, type Ticker } from '#timing';
import type { PinnedSource, SourceStore } from './source-store.js';

/** A change reaches every process within this time and that of one read; the contract is 2 s. */
const POLL_MS = 1_500;

export interface SourceWatcherOptions {
  /** Called after a change, also one of definitions. Must not throw. */
  readonly onChange?: () => void;
  readonly onError?: (error: unknown) => void;
  readonly pollMs?: number;
}

/** Copy of the catalog of sources in this process. Stays unchanged while Redis is out of reach. */
export class SourceWatcher {
  private readonly loaded = new Map<string, { revision: string; source: PinnedSource }>();
  private sorted: readonly PinnedSource[] = [];
  private revision: string | undefined;
  private ticker: Ticker | undefined;
  private looking: Promise<void> | undefined;
  private following: Promise<void> | undefined;
  private gone = '';
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly store: SourceStore,
    private readonly options: SourceWatcherOptions = {},
  ) {
    if (options.onChange) this.listeners.add(options.onChange);
  }

  /** Resolves after the first look, also when it failed. */
  async start(): Promise<void> {
    this.ticker = everyMs(this.options.pollMs ?? POLL_MS, () => this.refresh());
    await this.refresh();
  }

  /** Sorted by tenant and name. The same array until something changes. */
  list(): readonly PinnedSource[] {
    return this.sorted;
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Learns what was stored before this call. Never rejects. One look at a time: callers that find one under way share the
   * next one, since that one may have read before the change.
   */
  refresh(): Promise<void> {
    if (this.looking !== undefined) return (this.following ??= this.looking.then(() => this.lookAgain()));
    this.looking = this.look()
      .catch((error: unknown) => this.options.onError?.(error))
      .finally(() => (this.looking = undefined));
    return this.looking;
  }

  private lookAgain(): Promise<void> {
    this.following = undefined;
    return this.refresh();
  }

  close(): void {
    this.ticker?.unsubscribe();
    this.listeners.clear();
  }

  private async look(): Promise<void> {
    const revision = await this.store.revision();
    const changed = revision !== this.revision;
    if (changed) await this.load();
    const gone = await this.expired();
    if (!changed && gone.join() === this.gone) return;
    this.revision = revision;
    this.gone = gone.join();
    const visible = [...this.loaded].filter(([field]) => !gone.includes(field));
    this.sorted = visible.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, { source }]) => source);
    for (const listener of this.listeners) listener();
  }

  private async load(): Promise<void> {
    const revisions = await this.store.revisions();
    for (const field of this.loaded.keys()) if (!Object.hasOwn(revisions, field)) this.loaded.delete(field);
    for (const [field, revision] of Object.entries(revisions)) {
      if (this.loaded.get(field)?.revision === revision) continue;
      const source = await this.store.entry(field);
      if (source === undefined) this.loaded.delete(field);
      else this.loaded.set(field, { revision, source });
    }
  }

  /** Entries whose announcer does not renew them any more. */
  private async expired(): Promise<string[]> {
    const expiring = [...this.loaded].filter(([, { source }]) => source.entry.expires);
    const alive = await Promise.all(expiring.map(([, { source }]) => this.store.isAlive(source.entry)));
    return expiring.filter((_, index) => alive[index] !== true).map(([field]) => field);
  }
}
