export type * from './queue.port.js';
export { BullCallQueue, type CallQueueOptions } from './call-queue.js';
export { startConsumer, type CallConsumerOptions } from './call-consumer.js';
export type { QueueBackend } from './bull-settings.js';
