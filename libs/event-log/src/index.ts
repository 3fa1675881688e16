export type * from './event-log.port.js';
