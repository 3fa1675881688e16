import { z } from 'zod';

/**
 * Reference to a value that is too large for an event and is stored once outside the log. `ref` is the name of the value among
 * those of its call. `edited-arguments`: arguments of an approver.
 */
export const ClaimCheck = z.object({
  ref: z.enum(['arguments', 'edited-arguments', 'result', 'output']).describe('Which value of the call this is.'),
  sha256: z.string().describe('SHA-256 of the stored value, hexadecimal.'),
  bytes: z.number().int().describe('Its size in bytes.'),
  preview: z.string().describe('Its beginning.'),
});
export type ClaimCheck = z.output<typeof ClaimCheck>;
