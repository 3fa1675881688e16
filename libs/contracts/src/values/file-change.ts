import { z } from 'zod';

/** What a call changed in a file. Tools report it among the details of a result, as `diff`, and several as `diffs`. */
export const FileChange = z.object({
  path: z.string(),
  added: z.number(),
  removed: z.number(),
  /** As in unified diffs: each line begins with a space, `+`, `-` or `\`. Line numbers begin at 1. */
  hunks: z.array(
    z.object({
      oldStart: z.number(),
      oldLines: z.number(),
      newStart: z.number(),
      newLines: z.number(),
      lines: z.array(z.string()),
    }),
  ),
  /** Not all of the change is in `hunks`. */
  truncated: z.boolean(),
});
export type FileChange = z.output<typeof FileChange>;
