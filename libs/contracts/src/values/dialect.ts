import { z } from 'zod';
import { DIALECT_NAMES } from './dialect-names.js';

/** Names of the dialects. `core` is the canonical set: the names, arguments and texts of the tools themselves. */
export const Dialect = z.enum(['core', ...DIALECT_NAMES]).meta({
  id: 'Dialect',
  description: 'Whose tool names, argument shapes and texts are used: those of a known agent, or `core`, our own.',
});
export type Dialect = z.output<typeof Dialect>;

/**
 * Arguments of a dialect that its canonical tool lacks, and that only affect the wording of the result. Never contains texts of
 * the model.
 */
export const DialectHints = z.record(z.string(), z.union([z.string().max(64), z.number(), z.boolean()]));
export type DialectHints = z.output<typeof DialectHints>;
