import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisConnection } from '../redis-client.js';
import { measureMemory, memoryShare, type RedisMemorySample } from './measure-memory.js';

/** How full Redis is: what each level is for is in deploy/README.md. */
export type MemoryLevel = 'normal' | 'elevated' | 'high' | 'critical';

/** The part of `maxmemory` at which a level begins. */
const BEGINS = { critical: 0.9, high: 0.8, elevated: 0.7 } as const;
const INTERVAL_MS = 1_000;

/**
 * How full Redis is, measured once a second for the whole process: `level` answers from the last measurement, without a command.
 * Between two of them a full Redis refuses by itself (`EventLogFull`).
 */
export class RedisMemory {
  private last: RedisMemorySample | undefined;
  private readonly stopped = new AbortController();
  private running = false;

  constructor(private readonly redis: RedisConnection) {}

  /** Measures now, and then every second until `close`. Never rejects. */
  async start(): Promise<void> {
    if (this.running) return;
    this.running = true;
    await this.refresh();
    void this.run();
  }

  /** Idempotent. The connection is the caller's. */
  close(): void {
    this.stopped.abort();
  }

  /** 0 to about 1; 0 without a bound, and before the first measurement. */
  get share(): number {
    return this.last === undefined ? 0 : memoryShare(this.last);
  }

  get level(): MemoryLevel {
    return levelOf(this.share);
  }

  /** Measures now. Rejects while Redis does not answer. */
  async measure(): Promise<RedisMemorySample> {
    return (this.last = await measureMemory(this.redis));
  }

  private async run(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      await sleep(INTERVAL_MS, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted) await this.refresh();
    }
  }

  /** While Redis is away the last measurement stays: nothing is written meanwhile. */
  private async refresh(): Promise<void> {
    await this.measure().catch(() => {});
  }
}

function levelOf(share: number): MemoryLevel {
  if (share >= BEGINS.critical) return 'critical';
  if (share >= BEGINS.high) return 'high';
  return share >= BEGINS.elevated ? 'elevated' : 'normal';
}
