/** Logger of this process (pino). */
export const LOGGER = Symbol('LOGGER');

/** Metrics of this process (`Metrics` of #observability). */
export const METRICS = Symbol('METRICS');

/** Additional probes of the metrics in this process (`MetricsProbes` of #observability): in standalone the worker's slots. */
export const EXTRA_METRICS_PROBES = Symbol('EXTRA_METRICS_PROBES');

/** Connection for the log and the jobs behind its transitions: commands wait for a reconnect, and their callers set deadlines. */
export const BUFFERED_REDIS = Symbol('BUFFERED_REDIS');

/**
 * Connection on which the log waits for replicas. With DURABILITY=replicated one of its own, since WAIT blocks all other
 * commands of its connection; otherwise BUFFERED_REDIS.
 */
export const WAIT_REDIS = Symbol('WAIT_REDIS');

/** Connection of `DurableWrites`. With DURABILITY=replicated one of its own for the same reason; otherwise FAIL_FAST_REDIS. */
export const DURABLE_REDIS = Symbol('DURABLE_REDIS');

/**
 * Connection for reads and counters of requests (calls, sessions, rate limits, workers). Commands fail at once while Redis is
 * unreachable: the request is answered 503 instead of waiting for a reconnect.
 */
export const FAIL_FAST_REDIS = Symbol('FAIL_FAST_REDIS');

/** Calls and events that have left Redis (`LogArchive`); undefined without `ARCHIVE_URL`. */
export const LOG_ARCHIVE = Symbol('LOG_ARCHIVE');

/** Lists, counts and numbers of calls (`CallQueries`). */
export const CALL_QUERIES = Symbol('CALL_QUERIES');

/** Database of lists, keys and erasures (`GatewayHistory`). */
export const HISTORY = Symbol('HISTORY');
