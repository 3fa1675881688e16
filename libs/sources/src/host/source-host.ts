import type { NoticeData, Pool, SourceKind, SourceNoticeType, StoredSource } from '#contracts';
import type { RedisConnection } from '#redis';
import { ToolError } from '#tool-sdk';
import { everyMs, type Ticker } from '#timing';
import type { RunSourceTool } from '../catalog/tenant-catalog.js';
import type { SourceStore } from '../catalog/source-store.js';
import type { SourceWatcher } from '../catalog/source-watcher.js';
import { definitionFault } from '../definitions/definition-fault.js';
import { definitionText } from '../definitions/definition-text.js';
import type { SourceConnector } from '../source-connector.port.js';
import { sourceKey, type SourceId } from '../source-id.js';
import { HostedSource, type SourceHealth } from './hosted-source.js';
import { SourceLease } from './source-lease.js';

const TICK_MS = 1_000;

export type ReportSource = <T extends SourceNoticeType>(id: SourceId, type: T, data: NoticeData<T>) => void;

export interface SourceHostOptions {
  readonly redis: RedisConnection;
  readonly store: SourceStore;
  readonly watcher: SourceWatcher;
  /** Kinds without a connector are not run by workers. */
  readonly connectors: Partial<Record<SourceKind, SourceConnector>>;
  /** Sources that the environment of this worker names. */
  readonly local?: readonly StoredSource[];
  readonly workerId: string;
  readonly pools: readonly Pool[];
  readonly log: (message: string, facts: object) => void;
  /** Called by the worker that leads a source, once for each change of its state. Never throws. */
  readonly report?: ReportSource;
  readonly random?: () => number;
}

interface Hosted {
  readonly stored: StoredSource;
  readonly text: string | undefined;
  authorized: string | undefined;
  readonly source: HostedSource;
}

/** Sources of one worker: follows their definitions, runs their tools, and reads the lists of sources whose lease it holds. */
export class SourceHost {
  private readonly hosted = new Map<string, Hosted>();
  private ticker: Ticker | undefined;
  private following: Promise<void> | undefined;
  private readonly closing = new Map<string, Promise<void>>();
  private closed = false;

  constructor(private readonly options: SourceHostOptions) {}

  async start(): Promise<void> {
    await this.options.watcher.start();
    this.options.watcher.onChange(() => void this.follow());
    this.ticker = everyMs(TICK_MS, () => this.tick());
    await this.follow();
  }

  readonly run: RunSourceTool = async (id, rawName, args, ctx) => {
    // A source that was added a moment ago is opened first.
    if (!this.hosted.has(sourceKey(id))) await this.follow();
    const hosted = this.hosted.get(sourceKey(id));
    if (hosted === undefined) throw new ToolError('unavailable', `The source ${id.name} is not there on this worker`, { retryable: true });
    return hosted.source.call(rawName, args, ctx);
  };

  /** All known sources, as this worker last read them. */
  health(): (SourceId & SourceHealth)[] {
    return [...this.hosted.values()].map(({ source }) => ({ ...source.id, ...source.health }));
  }

  /** Idempotent; never rejects. */
  async close(): Promise<void> {
    this.closed = true;
    this.ticker?.unsubscribe();
    this.options.watcher.close();
    await this.following;
    await Promise.allSettled([...this.closing.values(), ...[...this.hosted.values()].map(({ source }) => source.close())]);
    this.hosted.clear();
  }

  private tick(): void {
    for (const { source } of this.hosted.values()) void source.tick();
  }

  /** Reads the definitions, and opens and closes sources as they say. Never rejects. */
  follow(): Promise<void> {
    this.following = (this.following ?? Promise.resolve())
      .then(() => this.sync())
      .catch((error: unknown) => {
        this.options.log('the definitions of sources could not be read', { err: error });
      });
    return this.following;
  }

  private async sync(): Promise<void> {
    if (this.closed) return;
    const { store, local = [], log } = this.options;
    const [stored, rules] = await Promise.all([store.definitions(), store.rules()]);
    const wanted = new Map<string, { source: StoredSource; local: boolean }>();
    for (const source of local) wanted.set(keyOf(source), { source, local: true });
    for (const source of stored) {
      const fault = definitionFault(source, rules);
      if (fault !== undefined) log('a source is not used', { source: keyOf(source), reason: fault });
      else if (!wanted.has(keyOf(source))) wanted.set(keyOf(source), { source, local: false });
    }
    for (const [key, hosted] of this.hosted) {
      const next = wanted.get(key)?.source;
      if (definitionText(next) !== hosted.text) {
        this.hosted.delete(key);
        this.retire(key, hosted);
      } else if (next?.authorized !== hosted.authorized) {
        hosted.authorized = next?.authorized;
        hosted.source.retry();
      }
    }
    for (const [key, next] of wanted) if (!this.hosted.has(key) && !this.closing.has(key)) this.host(key, next.source, next.local);
  }

  /** Closes a source. A slow close delays its successor, and no other source. */
  private retire(key: string, { source, stored }: Hosted): void {
    const closed = source
      .close()
      .then(() => this.deleteFiles(stored))
      .finally(() => {
        this.closing.delete(key);
        void this.follow();
      });
    this.closing.set(key, closed);
  }

  /** Deletes the files of a source that a tenant removed, not those of a changed one. Never rejects. */
  private async deleteFiles(stored: StoredSource): Promise<void> {
    const { store, connectors, log } = this.options;
    const { tenantId, origin, definition } = stored;
    const connector = connectors[definition.kind];
    if (origin === 'config' || connector?.removed === undefined) return;
    try {
      if ((await store.definition({ tenantId, name: definition.name })) === undefined) await connector.removed(stored);
    } catch (error) {
      log('the files of a removed source could not be deleted', { source: keyOf(stored), err: error });
    }
  }

  private host(key: string, source: StoredSource, local: boolean): void {
    const { redis, store, connectors, workerId, pools, log, report = () => {}, random = Math.random } = this.options;
    const connector = connectors[source.definition.kind];
    if (connector === undefined || this.closed) return;
    const id: SourceId = { tenantId: source.tenantId, name: source.definition.name };
    const hosted = new HostedSource(source, {
      store,
      lease: new SourceLease(redis, id, workerId),
      connector,
      random,
      log,
      local,
      report: (type, data) => report(id, type, data),
      serves: (pool) => pools.includes(pool),
    });
    this.hosted.set(key, { stored: source, text: definitionText(source), authorized: source.authorized, source: hosted });
    void hosted.tick();
  }
}

function keyOf({ tenantId, definition: { name } }: StoredSource): string {
  return sourceKey({ tenantId, name });
}
