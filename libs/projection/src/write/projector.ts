import { setTimeout as sleep } from 'node:timers/promises';
import { keys, LuaScript, partitionName, type RedisConnection } from '#redis';
import { signals } from '#signals';
import type { LogSource } from '../projection.port.js';
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
  /** Entries of the log a step at most. Default 500. */
  readonly batch?: number;
}

/** How often the log is looked at while nothing happens. Lists read what is newer from the log themselves. */
const IDLE_MS = 500;
/** While there is more to do, as long as the work before took, so that at most half of a core goes into it. */
const LONGEST_REST_MS = 200;
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

  constructor(private readonly options: ProjectorOptions) {
    const { redis, log, partitions, batch = 500 } = options;
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

  /** One step in every partition that is this projector's; whether any has more to do. Rejects when Redis is out of reach. */
  async round(): Promise<boolean> {
    await this.takeLeases();
    let more = false;
    for (const name of this.mine) {
      if (this.stopped.signal.aborted) return false;
      const startedAt = performance.now();
      const step = await this.projections.get(name)?.advance();
      if (step === undefined) continue;
      more ||= step.more;
      if (step.entries === 0) continue;
      signals.projected.emit({ partition: name, events: step.entries, tookMs: performance.now() - startedAt, lagMs: step.lagMs });
    }
    return more;
  }

  private async run(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      const startedAt = performance.now();
      let rest = IDLE_MS;
      try {
        if (this.options.redis.status === 'ready' && (await this.round())) rest = Math.min(performance.now() - startedAt, LONGEST_REST_MS);
      } catch (error) {
        if (!this.stopped.signal.aborted) this.options.onError?.(error);
      }
      await sleep(rest, undefined, { signal: this.stopped.signal }).catch(() => {});
    }
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
