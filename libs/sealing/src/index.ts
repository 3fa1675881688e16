export { Archiver, type ArchiverOptions } from './archiver.js';
export { ArchivedLog, openArchivedLog } from './read/archived-log.js';
export { PartitionArchiver } from './partition-archiver.js';
export { SealingFault } from './sealing-fault.js';
