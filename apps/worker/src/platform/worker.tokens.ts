import type { Tracing } from '#observability';

/** Connection for the worker's own commands, which wait for a reconnect. */
export const BUFFERED_REDIS = Symbol('BUFFERED_REDIS');

/**
 * Connection on which the log waits for replicas. With DURABILITY=replicated a connection of its own, since WAIT blocks all
 * other commands of its connection; otherwise BUFFERED_REDIS.
 */
export const WAIT_REDIS = Symbol('WAIT_REDIS');

/** Calls and events that have left Redis (`LogArchive`); undefined without `ARCHIVE_URL`. */
export const LOG_ARCHIVE = Symbol('LOG_ARCHIVE');

/** The metrics of this process (#metrics). */
export const METRICS = Symbol('METRICS');

/** Exporter of spans (`Spans`). */
export const SPANS = Symbol('SPANS');
export interface Spans {
  /** Undefined while tracing is off. */
  readonly tracing: Tracing | undefined;
}
