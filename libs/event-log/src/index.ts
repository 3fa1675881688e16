export type * from './event-log.port.js';
export { LogTail, type LogTailOptions } from './tail/log-tail.js';
export { EventHub, type Moment } from './tail/event-hub.js';
export { type EventBatch } from './tail/event-batch.js';
export { type Watch, type WatchOptions } from './tail/call-watches.js';
export { type Delivery, type ResyncReason, type SubscribeRequest, type Subscription, type SubscriptionSources } from './tail/subscription.js';
