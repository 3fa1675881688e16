import type { PolicyProfile } from '#contracts';
import type { SizeLimit } from '#sandbox';

const MIB = 1_048_576;
const PARTS = 'Use file_search with this path to find the lines you need, or cut a part out with a command such as "sed -n 100,200p".';

/** How much of a file a known agent reads at once. */
export interface FileReadDialect {
  readonly image: SizeLimit;
  readonly text: SizeLimit;
  /** A file larger than this is refused unless it is asked for in part. */
  readonly whole?: SizeLimit;
  /** So much text comes at once, in whole lines, and what stands below it; 1-based lines of the file. */
  readonly cut?: { readonly bytes: number; note(first: number, last: number, total: number): string };
}

const core: FileReadDialect = {
  image: { bytes: 20 * MIB, hint: PARTS },
  text: { bytes: 10 * MIB, hint: PARTS },
};

export const FILE_READ_DIALECTS: Readonly<Record<PolicyProfile, FileReadDialect>> = {
  core,
  zeroclaw: core,
  claw: core,
  phi: { ...core, whole: { bytes: MIB, hint: 'Use offset/limit for partial reads.' } },
  oxydra: core,
  kiro: {
    ...core,
    image: { bytes: 10 * MIB, hint: 'Only smaller images can be read.' },
    cut: {
      bytes: 250 * 1_024,
      // Lines are counted from 1 here, so the next one is asked for.
      note: (first, last, total) =>
        `\n...truncated (showing lines ${first}-${last} of ${total}). Use offset: ${last + 1} to continue reading.`,
    },
  },
};
