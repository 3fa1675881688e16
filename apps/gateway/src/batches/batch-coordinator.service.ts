import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { EventHub } from '#event-log';
import { FULL_SHARE, partitionOf, RedisMemory } from '#redis';
import { LOGGER } from '../platform/tokens.js';
import { BatchCalls } from './batch-calls.service.js';
import { FairTurns } from '../platform/fair-turns.service.js';
import { NotificationChannel } from '../platform/notification-channel.service.js';
import { BatchExecutor } from './batch-executor.js';
import type { BatchRecord } from './batch-record.js';
import { TextBudget } from './batch-watches.js';
import { BatchStore, LEASE_MS, RELEASED } from './batch-store.service.js';

const SWEEP_MS = LEASE_MS / 4;
/** Longest rest between two sweeps while no batch is open and the log does not grow. */
const MOST_REST_MS = 15_000;
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
 * Batches that this gateway executes: those it accepted, and those whose gateway died. A sweep renews all leases, and one
 * gateway at a time looks for batches with an expired lease. A gateway without batches rests after it until the next lease
 * expires, the log grows, or a batch is released.
 */
@Injectable()
export class BatchCoordinator implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly executors = new Map<string, BatchExecutor>();
  private readonly textBudget = new TextBudget();
  private readonly closing = new AbortController();
  private sweeping: Promise<number> | undefined;

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
    void this.run();
  }

  /** Releases its batches, which other gateways adopt at their next sweep. All requests are over by now. */
  async onApplicationShutdown(): Promise<void> {
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
      ...(isAwaited ? { textBudget: this.textBudget } : {}),
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

  private async run(): Promise<void> {
    const { signal } = this.closing;
    let wake = () => {};
    let grown: Promise<void> | undefined;
    const unsubscribe = this.notifications.subscribe(RELEASED, () => wake());
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => (wake = resolve));
      await sleep(SWEEP_MS, undefined, { signal, ref: false }).catch(() => {});
      // Before the sweep: an event that comes meanwhile ends the rest after it.
      if (this.hub.started) grown ??= this.hub.nextAppend().then(() => void (grown = undefined));
      const growth = grown;
      this.sweeping = this.sweep();
      const restMs = Math.min(await this.sweeping, MOST_REST_MS) - SWEEP_MS;
      if (restMs <= 0) continue;
      const rested = new AbortController();
      const stop = AbortSignal.any([signal, rested.signal]);
      await Promise.race([woken, growth, sleep(restMs, undefined, { signal: stop, ref: false }).catch(() => {})]);
      rested.abort();
    }
    unsubscribe();
  }

  /** Returns the milliseconds until the next sweep is due; 0 for soon. Never rejects: the next sweep repeats a failed one. */
  private async sweep(): Promise<number> {
    if (!this.hub.started || this.closing.signal.aborted) return 0;
    try {
      const isSweeper = await this.store.tryAcquireSweep(SWEEP_MS - SWEEP_MS / 10);
      const rests = await Promise.all(this.store.groups().map((group) => this.sweepPartitions(group, isSweeper)));
      return isSweeper && this.executors.size === 0 ? Math.min(...rests) : 0;
    } catch (error) {
      this.log.debug({ err: error }, 'could not look for batches; the next sweep does');
      return 0;
    }
  }

  private async sweepPartitions(partitions: readonly string[], isSweeper: boolean): Promise<number> {
    const owned = [...this.executors.keys()].filter((id) => partitions.includes(partitionOf(id)));
    if (!isSweeper && owned.length === 0) return 0;
    const { orphans, expiryMs } = await this.store.renewAndClaimOrphans(partitions, owned, isSweeper ? TAKE_OVER : 0);
    await Promise.all(orphans.map((id) => this.adopt(id)));
    if (!isSweeper || this.memory.share <= FULL_SHARE) return expiryMs;
    const before = Date.now() - KEPT_WHERE_FULL_MS;
    await Promise.all(partitions.map((partition) => this.store.forgetEnded(partition, before, FORGOTTEN_A_SWEEP)));
    return expiryMs;
  }
}
