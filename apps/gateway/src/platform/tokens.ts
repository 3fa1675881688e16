/** The logger of this process (pino). */
export const LOGGER = Symbol('LOGGER');

/** The metrics of this process (`Metrics` of #metrics). */
export const METRICS = Symbol('METRICS');

/** What else of this process the metrics should read (`MetricsProbes` of #metrics): in standalone the worker's slots. */
export const EXTRA_METRICS_PROBES = Symbol('MORE_PROBES');

/** Transitions and the history of events: commands wait for a reconnect, and their callers set deadlines. */
export const BUFFERED_REDIS = Symbol('COMMAND_REDIS');

/**
 * Reads and counters of requests (calls, sessions, rate limits, workers). Fails at once while Redis is out of reach, so
 * that a request is answered 503 instead of waiting for a reconnect.
 */
export const FAIL_FAST_REDIS = Symbol('PROMPT_REDIS');
