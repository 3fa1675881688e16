export type { LogEntry, LogSource } from './projection.port.js';
export { PartitionProjection } from './write/projection.js';
