import { z } from 'zod';

/** Change of a file by a call. Tools report it among the details of a result, as `diff`, and several as `diffs`. */
export const FileChange = z.object({
  path: z.string(),
  added: z.number(),
  removed: z.number(),
  /** Hunks as in unified diffs: each line begins with a space, `+`, `-` or `\`. Line numbers begin at 1. */
  hunks: z.array(
    z.object({
      oldStart: z.number(),
      oldLines: z.number(),
      newStart: z.number(),
      newLines: z.number(),
      lines: z.array(z.string()),
    }),
  ),
  /** True if `hunks` lack a part of the change. */
  truncated: z.boolean(),
});
export type FileChange = z.output<typeof FileChange>;
