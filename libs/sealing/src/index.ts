export { Archiver, type ArchiverOptions } from './archiver.js';
export { ArchivedLog } from './read/archived-log.js';
export { SealingFault } from './sealing-fault.js';
