export { MEMORY_ENV, type MemorySettings, memorySettings } from './memory.config.js';
export { Memory } from './memory.js';
export { MemoryFailure } from './memory-failure.js';
export type { Document } from './stores/index-context.js';
export type { MemoryScope } from './write/scoped-tables.js';
