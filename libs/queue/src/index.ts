export type * from './queue.port.js';
