import type { FileForm, ToolContext } from '#tool-sdk';

/** Limits for reading a file at once. */
export type FullFileForm = FileForm & Required<Pick<FileForm, 'image' | 'text'>>;

const MIB = 1_048_576;
const PARTS = 'Use file_search with this path to find the lines you need, or cut a part out with a command such as "sed -n 100,200p".';

export const OWN_FILES: FullFileForm = {
  image: { bytes: 20 * MIB, hint: PARTS },
  text: { bytes: 10 * MIB, hint: PARTS },
};

export function fileFormOf({ answers }: Pick<ToolContext, 'answers'>): FullFileForm {
  return { ...OWN_FILES, ...answers?.files };
}
