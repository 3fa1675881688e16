import type { Pool } from '#contracts';

/** What one pool's queue looks like now. `QueueStats` of `#queue` fits as it is. */
export interface QueueSample {
  readonly pool: Pool;
  readonly waiting: number;
  readonly active: number;
  readonly oldestWaitingMs: number;
}

export interface SlotSample {
  readonly pool: Pool;
  readonly slots: number;
  readonly running: number;
}

export interface ApprovalsSample {
  readonly waiting: number;
  /** 0 when none waits. */
  readonly oldestMs: number;
}

/** One tool source. `source`: its name where the operator defined it, else `other`, since tenants choose theirs. */
export interface SourceSample {
  readonly source: string;
  readonly status: 'ok' | 'stale' | 'failed' | 'pending';
  readonly tools: number;
  /** Of these, changed tools that wait for a person. */
  readonly pending: number;
}

/** Foreign workers of this gateway. `source` as in `SourceSample`; several may have the same. */
export interface ForeignWorkersSample {
  readonly source: string;
  readonly workers: number;
  /** Calls that they run now. */
  readonly calls: number;
}

/** Memory of a Redis in bytes. `RedisMemory` of `#redis` fits as it is. */
export interface RedisMemorySample {
  readonly usedBytes: number;
  /** 0 for no bound. */
  readonly maxBytes: number;
  readonly fragmentation: number;
}

/**
 * Values that are read at a scrape. The app passes the probes that it has; a probe that rejects or
 * takes longer than the scrape allows leaves its gauges out of that scrape and is counted. Probes must be safe to run twice at once.
 */
export interface MetricsProbes {
  queues?(): Promise<readonly QueueSample[]>;
  slots?(): readonly SlotSample[];
  /** Known sources of tools. */
  sources?(): readonly SourceSample[];
  foreignWorkers?(): readonly ForeignWorkersSample[];
  /** Calls that wait for a person. */
  approvals?(): Promise<ApprovalsSample>;
  /** By how much the longest due timer of the log is overdue; 0 when none is. */
  overdueMs?(): Promise<number>;
  /** Of the fullest master. */
  redisMemory?(): Promise<RedisMemorySample>;
}
