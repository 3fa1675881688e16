import type { Tracing } from '#observability';

/** The worker's own commands to Redis; they wait for a reconnect. */
export const BUFFERED_REDIS = Symbol('COMMAND_REDIS');

/** The log's connection. With DURABILITY=replicated one of its own: WAIT blocks every other command of its connection. */
export const LOG_REDIS = Symbol('LOG_REDIS');

/** The metrics of this process (#metrics). */
export const METRICS = Symbol('METRICS');

/** Where spans go (`Spans`). */
export const SPANS = Symbol('SPANS');
export interface Spans {
  /** Undefined while tracing is off. */
  readonly tracing: Tracing | undefined;
}
