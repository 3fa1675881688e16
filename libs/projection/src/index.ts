export type { LogEntry, LogSource } from './projection.port.js';
export { PartitionProjection, type Advance } from './write/projection.js';
export { Projector, type ProjectorOptions } from './write/projector.js';
export { CallIndex } from './query/call-index.js';
export { SessionList } from './query/session-list.js';
export { Numbers } from './query/numbers.js';
