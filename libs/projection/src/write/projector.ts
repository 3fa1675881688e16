import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { keys, LuaScript, partitionName, type RedisConnection } from '#redis';
import { telemetry } from '#observability';
import type { LogSource } from '#history';
import { PartitionProjection } from './projection.js';

export interface ProjectorOptions {
  /** Connection for commands; the caller closes it. */
  readonly redis: RedisConnection;
  readonly log: LogSource;
  readonly partitions: number;
  /** Names this projector among all. */
  readonly id: string;
  /** Told when a round failed; it is tried again. */
  readonly onError?: (error: unknown) => void;
  /** Entries of the log a step at most. More cost less each, and keep the process longer from other work. Default 250. */
  readonly batch?: number;
}

/** How often the log is looked at while nothing happens. Lists read what is newer from the log themselves. */
const IDLE_MS = 500;
/**
 * While there is more to do: how long to rest, as a multiple of what the work before took. Where nothing else runs in the
 * process it goes on almost at once; beside a flood of calls about a tenth of a core goes into it.
 */
const REST_IDLE = 0.2;
const REST_BUSY = 9;
const LONGEST_REST_MS = 500;
const LEASE_MS = 6_000;
const RENEW_MS = 2_000;

/** KEYS[1] lease · ARGV holder, ms · 1 when it is the holder's now */
const TAKE = new LuaScript(`#!lua
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`);

/** KEYS[1] lease · ARGV holder */
const GIVE_BACK = new LuaScript(`#!lua
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`);

/**
 * Keeps the projections of all partitions up to date, in every worker. A lease a partition lets one of all workers do
 * it, which only saves work: the checkpoint decides, so two at once do no harm, and a late one writes nothing.
 */
export class Projector {
  private readonly projections: ReadonlyMap<string, PartitionProjection>;
  private readonly mine = new Set<string>();
  private readonly stopped = new AbortController();
  private running: Promise<void> | undefined;
  private renewedAt = -Infinity;
  private others = 0;

  constructor(private readonly options: ProjectorOptions) {
    const { redis, log, partitions, batch = 250 } = options;
    const names = Array.from({ length: partitions }, (_, index) => partitionName(index));
    this.projections = new Map(names.map((name) => [name, new PartitionProjection(redis, log, name, batch)]));
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Waits for the step under way and gives the leases back. Idempotent. Never rejects. */
  async close(): Promise<void> {
    if (this.stopped.signal.aborted) return;
    this.stopped.abort();
    if (this.options.redis.status !== 'ready') return;
    await this.running;
    await Promise.allSettled([...this.mine].map((name) => GIVE_BACK.run(this.options.redis, [keys.viewLease(name)], [this.options.id])));
  }

  /**
   * One step in every partition that is this projector's, with a rest after each that has more to do; whether any has.
   * Rejects when Redis is out of reach.
   */
  async round(rest: (workedMs: number) => Promise<void> = async () => {}): Promise<boolean> {
    await this.takeLeases();
    let more = false;
    for (const name of this.mine) {
      if (this.stopped.signal.aborted) return false;
      const startedAt = performance.now();
      const step = await this.projections.get(name)?.advance();
      if (step === undefined) continue;
      more ||= step.more;
      if (step.entries === 0) continue;
      telemetry.projected.emit({ partition: name, events: step.entries, tookMs: performance.now() - startedAt, lagMs: step.lagMs });
      if (step.more) await rest(performance.now() - startedAt);
    }
    return more;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      let more = false;
      try {
        if (this.options.redis.status === 'ready') more = await this.round((workedMs) => this.rest(workedMs));
      } catch (error) {
        if (!signal.aborted) this.options.onError?.(error);
      }
      if (!more) await this.sleep(IDLE_MS);
    }
  }

  /** What the process does while this rests is the work of others; the more of it there is, the longer the next rest. */
  private async rest(workedMs: number): Promise<void> {
    const before = performance.eventLoopUtilization();
    await this.sleep(Math.min((REST_IDLE + REST_BUSY * this.others) * workedMs, LONGEST_REST_MS));
    this.others = performance.eventLoopUtilization(before).utilization;
  }

  private async sleep(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.stopped.signal }).catch(() => {});
  }

  private async takeLeases(): Promise<void> {
    if (performance.now() - this.renewedAt < RENEW_MS) return;
    this.renewedAt = performance.now();
    await Promise.all(
      [...this.projections.keys()].map(async (name) => {
        const taken = await TAKE.run(this.options.redis, [keys.viewLease(name)], [this.options.id, LEASE_MS]);
        if (taken === 1) this.mine.add(name);
        else this.mine.delete(name);
      }),
    );
  }
}
