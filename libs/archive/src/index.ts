export { ArchiveConflict, ArchiveCorrupt, ArchiveUnusable } from './archive-errors.js';
export { openArchive } from './store/open-archive.js';
export type { ArchiveStore } from './store/archive-store.port.js';
export { readSegment, sealSegment, SEGMENT_LIMITS, type SealedSegment } from './segment/segment.js';
export type { SealedEvent } from './segment/event-lines.js';
export type { Manifest } from './segment/manifest.js';
export { segmentName } from './segment/names.js';
export { findSegment, lastSegment, loadSegment, storeSegment } from './segment/segments.js';
