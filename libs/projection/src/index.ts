export { PartitionProjection } from './write/projection.js';
export { Projector } from './write/projector.js';
export { CallIndex } from './query/call-index.js';
export { SessionList } from './query/session-list.js';
export { Numbers } from './query/numbers.js';
