import { setMaxListeners } from 'node:events';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { EventHub } from '#event-log';
import { FULL_SHARE, partitionOf, RedisMemory } from '#redis';
import { everyMs, type Ticker } from '#timing';
import { LOGGER } from '../platform/tokens.js';
import { BatchCalls } from './batch-calls.service.js';
import { FairTurns } from '../platform/fair-turns.service.js';
import { NotificationChannel } from '../platform/notification-channel.service.js';
import { BatchExecutor } from './batch-executor.js';
import type { BatchRecord } from './batch-record.js';
import { KeptText } from './batch-watches.js';
import { BatchStore, LEASE_MS } from './batch-store.service.js';

const SWEEP_MS = LEASE_MS / 4;
/** Most orphans of a partition that one gateway adopts at a time; the next sweep finds the rest. */
const TAKE_OVER = 20;
/** Time in milliseconds for which an ended batch is stored for waiting clients while Redis is full. */
const KEPT_WHERE_FULL_MS = 60_000;
/** Most ended batches of a partition that a sweep deletes. */
const FORGOTTEN_A_SWEEP = 500;

interface AdoptOptions {
  readonly isAwaited?: boolean;
  readonly record?: BatchRecord | undefined;
}

/**
 * Batches that this gateway executes: those it accepted, and those whose gateway died. One tick renews all leases, and one
 * gateway at a time looks for batches with an expired lease.
 */
@Injectable()
export class BatchCoordinator implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly executors = new Map<string, BatchExecutor>();
  private readonly kept = new KeptText();
  private readonly closing = new AbortController();
  private ticker: Ticker | undefined;
  private sweeping: Promise<void> | undefined;

  constructor(
    private readonly store: BatchStore,
    private readonly calls: BatchCalls,
    private readonly notifications: NotificationChannel,
    private readonly hub: EventHub,
    private readonly memory: RedisMemory,
    private readonly turns: FairTurns,
    @Inject(LOGGER) private readonly log: Logger,
  ) {
    // Each watched call adds a listener; their number is bounded by the calls of the batches.
    setMaxListeners(0, this.closing.signal);
  }

  onApplicationBootstrap(): void {
    this.ticker = everyMs(SWEEP_MS, () => (this.sweeping = this.sweep()));
  }

  /** Releases its batches, which other gateways adopt at their next sweep. All requests are over by now. */
  async onApplicationShutdown(): Promise<void> {
    this.ticker?.unsubscribe();
    this.closing.abort();
    await this.sweeping;
    const owned = [...this.executors];
    for (const [, run] of owned) run.schedule();
    await Promise.all(owned.map(([, { done }]) => done));
    await Promise.allSettled(owned.map(([id]) => this.store.release(id)));
  }

  /**
   * Executes a batch until it has ended. Idempotent. Undefined if nothing is left to do. `isAwaited`: a client waits for its
   * end. `record`: record of a batch that this process has just created, which saves reading it.
   */
  async adopt(id: string, { isAwaited = false, record }: AdoptOptions = {}): Promise<BatchExecutor | undefined> {
    const isHere = this.executors.get(id);
    if (isHere !== undefined || this.closing.signal.aborted) return isHere;
    const batch = record ?? (await this.store.load(id));
    if (batch === undefined || batch.endedAt !== undefined || this.executors.has(id)) return this.executors.get(id);
    const { store, calls, hub, turns } = this;
    const failed = (batchId: string, error: unknown) =>
      this.log.warn({ batchId, err: error }, 'a step of a batch failed; it is tried again');
    const run = new BatchExecutor(batch, {
      store,
      calls,
      hub,
      turns,
      closing: this.closing.signal,
      failed,
      ...(isAwaited ? { kept: this.kept } : {}),
    });
    this.executors.set(id, run);
    const unsubscribe = this.notifications.subscribe(id, () => run.schedule());
    void run.done.then(() => {
      unsubscribe();
      this.executors.delete(id);
    });
    run.schedule();
    return run;
  }

  /** Never rejects: the next tick repeats a failed sweep. */
  private async sweep(): Promise<void> {
    try {
      if (!this.hub.started) return;
      const isSweeper = await this.store.tryAcquireSweep(SWEEP_MS - SWEEP_MS / 10);
      await Promise.all(this.store.groups().map((group) => this.sweepPartitions(group, isSweeper)));
    } catch (error) {
      this.log.debug({ err: error }, 'could not look for batches; the next tick does');
    }
  }

  private async sweepPartitions(partitions: readonly string[], isSweeper: boolean): Promise<void> {
    const owned = [...this.executors.keys()].filter((id) => partitions.includes(partitionOf(id)));
    if (!isSweeper && owned.length === 0) return;
    const orphans = await this.store.renewAndClaimOrphans(partitions, owned, isSweeper ? TAKE_OVER : 0);
    await Promise.all(orphans.map((id) => this.adopt(id)));
    if (!isSweeper || this.memory.share <= FULL_SHARE) return;
    const before = Date.now() - KEPT_WHERE_FULL_MS;
    await Promise.all(partitions.map((partition) => this.store.forgetEnded(partition, before, FORGOTTEN_A_SWEEP)));
  }
}
