import type { Pool } from '#contracts';

/** Present state of a pool's queue; compatible with `QueueStats` of `#queue`. */
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
  /** Age of the oldest waiting call; 0 for none. */
  readonly oldestMs: number;
}

/** Tool source. `source`: its name if the operator defined it, else `other`, since tenants choose theirs. */
export interface SourceSample {
  readonly source: string;
  readonly status: 'ok' | 'stale' | 'failed' | 'pending';
  readonly tools: number;
  /** Changed tools that wait for a person. */
  readonly pending: number;
}

/** Foreign workers of this gateway. `source` as in `SourceSample`, not unique. */
export interface ForeignWorkersSample {
  readonly source: string;
  readonly workers: number;
  /** Calls that run on them now. */
  readonly calls: number;
}

/** Memory of a Redis in bytes; compatible with `RedisMemory` of `#redis`. */
export interface RedisMemorySample {
  readonly usedBytes: number;
  /** Value of `maxmemory`; 0 for no limit. */
  readonly maxBytes: number;
  readonly fragmentation: number;
}

/**
 * Values that are read at a scrape. The app passes its probes; a probe that rejects or exceeds the time-out is counted, and its
 * gauges are missing from that scrape. Probes must allow concurrent runs.
 */
export interface MetricsProbes {
  queues?(): Promise<readonly QueueSample[]>;
  slots?(): readonly SlotSample[];
  /** Known sources of tools. */
  sources?(): readonly SourceSample[];
  foreignWorkers?(): readonly ForeignWorkersSample[];
  /** Calls that wait for a person. */
  approvals?(): Promise<ApprovalsSample>;
  /** Delay of the longest overdue timer of the log; 0 for none. */
  overdueMs?(): Promise<number>;
  /** Memory of the fullest master. */
  redisMemory?(): Promise<RedisMemorySample>;
}
