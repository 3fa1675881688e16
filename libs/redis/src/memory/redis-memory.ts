import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisConnection } from '../redis-client.js';
import { measureMemory, memoryShare, type RedisMemorySample } from './measure-memory.js';

/** Memory level of Redis; deploy/README.md describes the effect of each. */
export type MemoryLevel = 'normal' | 'elevated' | 'high' | 'critical';

/** Share of `maxmemory` at which a level begins. */
const BEGINS = { critical: 0.9, high: 0.8, elevated: 0.7 } as const;
const INTERVAL_MS = 1_000;

/**
 * Memory of Redis, measured once a second for the whole process: `level` is from the last measurement, without a command.
 * Between two measurements a full Redis refuses writes by itself (`EventLogFull`).
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

  /** Used share of `maxmemory`, 0 to about 1; 0 without a limit, and before the first measurement. */
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

  /** Measures; keeps the last measurement while Redis is unreachable, since no write succeeds meanwhile. */
  private async refresh(): Promise<void> {
    await this.measure().catch(() => {});
  }
}

function levelOf(share: number): MemoryLevel {
  if (share >= BEGINS.critical) return 'critical';
  if (share >= BEGINS.high) return 'high';
  return share >= BEGINS.elevated ? 'elevated' : 'normal';
}
