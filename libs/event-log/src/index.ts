export type * from './event-log.port.js';
export { LogTail, type LogTailOptions } from './tail/log-tail.js';
export { EventHub, type Moment } from './tail/event-hub.js';
export { EventBatch } from './tail/event-batch.js';
export { type Watch, type WatchOptions } from './tail/call-watches.js';
export {
  type Delivery,
  type ResyncReason,
  type SubscribeRequest,
  type Subscription,
  type SubscriptionSources,
} from './tail/subscription.js';
export { EventLog, type EventLogOptions } from './event-log.js';
export { EventLogFull, EventLogUnavailable, EventLogUnreplicated } from './event-log-errors.js';
export { LOG_FORMAT, openInstallation } from './installation.js';
export { isApplied } from './stream/transition-answer.js';
export { RUN_LIMITS } from './stream/transition.js';
export { START_ARGUMENTS_BYTES } from './stream/to-transition.js';
export { NoticeLog } from './notice-log.js';
export { FIRST_EPOCH, metaText, seqOf, toStoredEvent, type StreamEntry } from './stream/stored-event.js';
export { decodeHead, encodeHead, type CallState, type CallTerms } from './call/call-head.js';
export { decide } from './call/call.decider.js';
export { DEADLINE_SLACK_MS, DISPATCH_SAFETY_MS, evolve } from './call/evolve.js';
export { upcastEvent } from './call/upcasters.js';
export { BLOB_LIMITS, BlobStore } from './read/blob-store.js';
export { CallStore } from './read/call-store.js';
export { LogReader, type LogEntry } from './read/log-reader.js';
export { foldCall, type StoredValues } from './read/fold-call.js';
