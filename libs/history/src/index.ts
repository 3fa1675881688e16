export { HistoryUnavailable, migrateHistory, openHistoryDatabase, type HistoryDatabase } from './database/history-database.js';
export { HistoryProjector } from './write/history-projector.js';
export { CallList } from './query/call-list.js';
export { SessionList } from './query/session-list.js';
export { Numbers } from './query/numbers.js';
