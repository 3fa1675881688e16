export { Archiver, type ArchiverOptions } from './archiver.js';
export { ArchivedLog, openArchivedLog } from './read/archived-log.js';
export { PartitionArchiver } from './partition-archiver.js';
export { SealingFault } from './sealing-fault.js';
export type { ContentKeys, ContentPolicy } from './content/content-keys.port.js';
export { Eraser, type Erasures } from './erase/eraser.js';
export { readPosition, requestErase, type ArchivePosition } from './seal/archive-position.js';
