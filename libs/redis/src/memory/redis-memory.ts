import type { RedisConnection } from '../redis-client.js';
import { measureMemory, memoryShare, type RedisMemorySample } from './measure-memory.js';

/** Memory level of Redis; deploy/README.md describes the effect of each. */
export type MemoryLevel = 'normal' | 'elevated' | 'high' | 'critical';

/** Share of `maxmemory` at which a level begins. */
const BEGINS = { critical: 0.9, high: 0.8, elevated: 0.7 } as const;
const INTERVAL_MS = 1_000;
/** Interval while nothing asks for the level. */
const IDLE_MS = 10_000;

/**
 * Memory of Redis, measured once a second for the whole process while its level is read, else every ten seconds: `level` is
 * from the last measurement, without a command. Between two measurements a full Redis refuses writes by itself
 * (`EventLogFull`).
 */
export class RedisMemory {
  private last: RedisMemorySample | undefined;
  private timer: NodeJS.Timeout | undefined;
  private measuredAt = -Infinity;
  private measuring = false;
  private state: 'new' | 'started' | 'closed' = 'new';

  constructor(private readonly redis: RedisConnection) {}

  /** Measures now, and then until `close`. Never rejects. */
  async start(): Promise<void> {
    if (this.state !== 'new') return;
    this.state = 'started';
    await this.refresh();
  }

  /** Idempotent. The connection is the caller's. */
  close(): void {
    this.state = 'closed';
    clearTimeout(this.timer);
  }

  /** Used share of `maxmemory`, 0 to about 1; 0 without a limit, and before the first measurement. */
  get share(): number {
    if (this.state === 'started' && !this.measuring && performance.now() - this.measuredAt >= INTERVAL_MS) void this.refresh();
    return this.last === undefined ? 0 : memoryShare(this.last);
  }

  get level(): MemoryLevel {
    return levelOf(this.share);
  }

  /** Measures now. Rejects while Redis does not answer. */
  async measure(): Promise<RedisMemorySample> {
    return (this.last = await measureMemory(this.redis));
  }

  /** Measures; keeps the last measurement while Redis is unreachable, since no write succeeds meanwhile. */
  private async refresh(): Promise<void> {
    clearTimeout(this.timer);
    this.measuring = true;
    await this.measure().catch(() => {});
    this.measuring = false;
    this.measuredAt = performance.now();
    if (this.state === 'started') this.timer = setTimeout(() => void this.refresh(), IDLE_MS).unref();
  }
}

function levelOf(share: number): MemoryLevel {
  if (share >= BEGINS.critical) return 'critical';
  if (share >= BEGINS.high) return 'high';
  return share >= BEGINS.elevated ? 'elevated' : 'normal';
}
