import type { AnnouncedSource, Pool, StoredSource } from '#contracts';
import { ToolError, type ToolContext, type ToolOutput } from '#tool-sdk';
import { telemetry } from '#observability';
import { acceptOffer, type Offer } from '../catalog/offered-tool.js';
import { poolOf } from '../definitions/pool-of.js';
import type { SourceStore } from '../catalog/source-store.js';
import { NotBegun, type SourceConnector } from '../source-connector.port.js';
import { failureText } from '../failure-text.js';
import { sourceKey, type SourceId } from '../source-id.js';
import { countedCall, sourceLabel } from '../source-label.js';
import { backoffMs } from './backoff.js';
import { CallTurns } from './call-turns.js';
import { FailureLog } from './failure-log.js';
import { SharedConnection } from './shared-connection.js';
import type { SourceLease } from './source-lease.js';
import { SourceStates, type ReportState } from './source-states.js';

const LIST_TIMEOUT_MS = 30_000;
/** Characters of the reason of a failure, which is text of the source. */
const MAX_REASON = 500;
/** Interval for servers that do not announce changes of their list. */
const LIST_AGAIN_MS = 60_000;
/** Minimum delay between a change and the next read of the list. Grows for a source with continuous changes. */
const AFTER_CHANGE_MS = 500;
const FREE_CHANGES = 10;
/** Entries of sources that only the environment of a worker names vanish with the last such worker. */
export const LOCAL_TTL_MS = 10_000;

/** `connecting`: this worker has not read its tools, or another one does. */
export type SourceHealth = { readonly state: 'connecting' | 'works' } | { readonly state: 'fails'; readonly reason: string };

export interface HostedSourceParts {
  readonly store: SourceStore;
  readonly lease: SourceLease;
  readonly connector: SourceConnector;
  readonly random: () => number;
  /** True if this worker may run the tools, and so read them for all. */
  readonly serves: (pool: Pool) => boolean;
  readonly log: (message: string, facts: object) => void;
  readonly report: ReportState;
  /** True for a source from the environment of workers, which is not in Redis. */
  readonly local: boolean;
}

/**
 * A source in one worker. Every worker calls tools through it; the one that holds the lease also reads the list of tools
 * and announces it: at once after a change, again after a while, with back-off after a failure.
 */
export class HostedSource {
  private readonly connection: SharedConnection;
  private readonly turns: CallTurns;
  private readonly states: SourceStates;
  private readonly failures: FailureLog;
  /** Health by this worker's last read of the tools. */
  health: SourceHealth = { state: 'connecting' };
  private leads = false;
  private closed = false;
  private due = 0;
  private listing: Promise<void> | undefined;
  private announced = '';
  private announcedAt = -LIST_AGAIN_MS;
  private listedAt = -LIST_AGAIN_MS;
  /** Number of consecutive changes, each within a minute of the previous one. */
  private changes = 0;

  constructor(
    readonly source: StoredSource,
    private readonly parts: HostedSourceParts,
  ) {
    const { definition } = source;
    this.turns = new CallTurns(definition.kind === 'mcp' ? definition.concurrency : undefined);
    this.failures = new FailureLog(this.id, parts.log);
    this.states = new SourceStates(definition.kind, parts.report);
    const again = () => {
      this.changed();
      void this.tick();
    };
    const onChange = () => {
      again();
      if (!this.leads) void parts.lease.tellHolder().catch(() => undefined);
    };
    const onLost = () => {
      if (this.leads) this.states.exited();
      again();
    };
    this.connection = new SharedConnection(source, parts.connector, { onChange, onLost }, parts.random);
  }

  private get label(): string {
    return sourceLabel({ name: this.id.name, origin: this.source.origin });
  }

  get id(): SourceId {
    return { tenantId: this.source.tenantId, name: this.source.definition.name };
  }

  call(rawName: string, args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolOutput> {
    return countedCall(this.label, ctx.signal, () => this.tryCall(rawName, args, ctx));
  }

  private async tryCall(rawName: string, args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolOutput> {
    try {
      return await this.onConnection(rawName, args, ctx).catch((error: unknown) => {
        if (error instanceof NotBegun) return this.onConnection(rawName, args, ctx);
        throw error;
      });
    } catch (error) {
      if (error instanceof ToolError) throw error;
      if (ctx.signal.aborted) throw ctx.signal.reason;
      const why = failureText(error);
      throw new ToolError('unavailable', `The source ${this.id.name} is not reachable now: ${why.slice(0, 500)}`, {
        retryable: true,
        cause: error,
      });
    }
  }

  private onConnection(rawName: string, args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolOutput> {
    return this.connection.use((connection) => {
      ctx.signal.throwIfAborted();
      return this.turns.run(ctx.signal, () => connection.call(rawName, args, ctx));
    });
  }

  /** The list is read at the next tick, or some time after the last change. */
  private changed(): void {
    const wait = this.changes < FREE_CHANGES ? AFTER_CHANGE_MS : backoffMs(this.changes - FREE_CHANGES + 1, this.parts.random);
    this.due = Math.min(this.due, Math.max(this.announcedAt + wait, this.listedAt + AFTER_CHANGE_MS));
  }

  /** Called every second. Never rejects. */
  async tick(): Promise<void> {
    if (this.closed || !this.mayLead()) return;
    this.leads = await this.lead().catch(() => false);
    if (!this.leads || this.closed) return;
    if (this.parts.local) await this.renew();
    if (performance.now() < this.due || this.listing !== undefined) return;
    this.listedAt = performance.now();
    this.due = this.listedAt + LIST_AGAIN_MS;
    this.listing = this.read().finally(() => (this.listing = undefined));
    await this.listing;
  }

  /** Connects at once after an authorization by a person; calls in progress continue. */
  retry(): void {
    this.connection.retry();
    this.due = 0;
    void this.tick();
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.connection.close();
    if (this.leads) await this.parts.lease.release().catch(() => undefined);
  }

  private async lead(): Promise<boolean> {
    const held = await this.parts.lease.hold();
    if (held === undefined) return false;
    if (held.changed) this.changed();
    if (this.leads) return true;
    this.states.begin((await this.announcedBefore())?.entry);
    this.due = 0;
    return true;
  }

  private announcedBefore() {
    return this.parts.store.entry(sourceKey(this.id));
  }

  private mayLead(): boolean {
    const { definition } = this.source;
    return definition.kind === 'folder' || definition.kind === 'plugin' || this.parts.serves(poolOf(definition));
  }

  private async read(): Promise<void> {
    this.states.loading();
    try {
      const { tools, problems = [], broken } = await this.connection.list(LIST_TIMEOUT_MS);
      const offer = acceptOffer(tools, { ...this.source.definition, pool: poolOf(this.source.definition) }, problems);
      if (broken !== undefined && (await this.lacksTools(offer))) throw new Error(broken);
      this.failures.works();
      this.health = { state: 'works' };
      telemetry.sourceRead.emit({ source: this.label, result: 'ok' });
      await this.announce('ok', offer);
      if (!this.closed) this.states.read(offer.tools);
    } catch (error) {
      if (this.closed) return;
      const why = failureText(error).slice(0, MAX_REASON);
      telemetry.sourceRead.emit({ source: this.label, result: 'failed' });
      this.failures.failed(why);
      this.health = { state: 'fails', reason: why };
      this.due = performance.now() + Math.max(1_000, this.connection.listWaitMs);
      await this.announceFailure(why).catch(() => undefined);
      this.states.failed();
    }
  }

  /** True if the last list had tools that are not offered now. */
  private async lacksTools({ tools }: Offer): Promise<boolean> {
    const offered = new Set(tools.map(({ rawName }) => rawName));
    return (await this.announcedBefore())?.entry.tools.some(({ rawName }) => !offered.has(rawName)) ?? false;
  }

  /** Keeps the last good list, so that people see what is missing. */
  private async announceFailure(error: string): Promise<void> {
    const last = (await this.announcedBefore())?.entry;
    const good = last !== undefined && last.kind === this.source.definition.kind && last.status !== 'failed';
    await this.announce(good ? 'stale' : 'failed', good ? last : { tools: [], problems: [] }, error);
  }

  private async announce(status: AnnouncedSource['status'], { tools, problems }: Offer, error?: string): Promise<void> {
    const { tenantId, origin, definition } = this.source;
    const { name, kind, pin } = definition;
    const facts = { tenantId, name, kind, pin, origin, status, problems, tools, ...(error === undefined ? {} : { error }) };
    const text = JSON.stringify(facts);
    if (this.closed || text === this.announced) return;
    const entry: AnnouncedSource = { ...facts, updatedAt: new Date().toISOString(), expires: this.parts.local };
    const isWhole = await this.parts.store.announce(entry, this.parts.local ? LOCAL_TTL_MS : undefined);
    this.announced = isWhole ? text : '';
    this.changes = performance.now() - this.announcedAt < LIST_AGAIN_MS ? this.changes + 1 : 0;
    this.announcedAt = performance.now();
    // The definition may have been removed meanwhile: then nothing else takes the entry away.
    if (!this.parts.local) await this.parts.store.withdrawRemoved(this.id);
  }

  private async renew(): Promise<void> {
    const alive = await this.parts.store.renew(this.id, LOCAL_TTL_MS).catch(() => true);
    if (alive) return;
    this.announced = '';
    this.due = 0;
  }
}
