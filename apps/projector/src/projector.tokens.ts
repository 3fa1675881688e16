/** The configuration of this process (`ProjectorConfig`). */
export const PROJECTOR_CONFIG = Symbol('PROJECTOR_CONFIG');
/** The logger of this process (pino). */
export const LOGGER = Symbol('LOGGER');
/** The `RoundLoop`s of the process, in the order of their shutdown. */
export const LOOPS = Symbol('LOOPS');
/** The metrics of this process (`Metrics` of #observability). */
export const METRICS = Symbol('METRICS');
/** The connection to Redis. */
export const REDIS = Symbol('REDIS');
/** Archive of events and calls that leave Redis (`ArchiveStore`); undefined without `ARCHIVE_URL`. */
export const ARCHIVE = Symbol('ARCHIVE');
/** The tables of the history (`HistoryDatabase`); undefined without `DATABASE_URL`. */
export const DATABASE = Symbol('DATABASE');
