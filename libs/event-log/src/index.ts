export type * from './event-log.port.js';
export { LogGrowth } from './tail/log-growth.js';
export { LogTail } from './tail/log-tail.js';
export { EventHub } from './tail/event-hub.js';
export { EventBatch } from './tail/event-batch.js';
export type { Delivery, ResyncReason, Subscription, SubscriptionSources } from './tail/subscription.js';
export { EventLog, type EventLogOptions } from './event-log.js';
export {
  ArchiveUnavailable,
  callLost,
  EventLogFull,
  EventLogTenantFull,
  EventLogUnavailable,
  EventLogUnreplicated,
} from './event-log-errors.js';
export { ensureLogMetadata, LOG_FORMAT } from './log-metadata.js';
export { CLAIM_ON_DEQUEUE } from './stream/claim-on-dequeue.js';
export { isApplied } from './stream/transition-answer.js';
export { adminPartition, SystemEventLog } from './system-event-log.js';
export {
  FIRST_EPOCH,
  fingerprintOf,
  isoTime,
  parseEntry,
  readEntry,
  seqOf,
  toStoredEvent,
  toTailedEvent,
  type StreamEntry,
} from './stream/stored-event.js';
export { toEntry } from './read/archived-entry.js';
export { decodeSnapshot, encodeSnapshot, type CallState } from './call/call-snapshot.js';
export { DEADLINE_SLACK_MS } from './call/timing.js';
export { NO_UPDATES, UpdatesDigest } from './call/updates-digest.js';
export { upcastEvent } from './call/upcasters.js';
export { withoutContent } from './call/without-content.js';
export { argumentRefs, BLOB_LIMITS, BlobStore, suspensionBlob, type BlobRef, type SuspensionRef } from './read/blob-store.js';
export { CallStore, type DueCalls, type EventPage } from './read/call-store.js';
export { readPendingApprovals } from './read/pending-approvals.js';
export { listPendingApprovals } from './read/pending-approval-list.js';
export { listPendingApprovalsByRisk } from './read/pending-approvals-by-risk.js';
export { LogReader } from './read/log-reader.js';
export { foldCall } from './read/fold-call.js';
export type { ArchivedCall, ArchivedEvent, LogArchive } from './read/log-archive.port.js';
export { encodeKeptEntry, PartitionLog } from './read/partition-log.js';
