import { changeFile, decodeText, missingFile, type ResolvedFile } from '#sandbox';
import type { ToolContext } from '#tool-sdk';
import { fileDiff, type FileDiff } from './file-diff.js';

const LIMIT = { bytes: 10 * 1_048_576, hint: 'Edit smaller files.' };

export interface TextChange<T> {
  readonly text: string;
  readonly value: T;
}

export interface ChangedText<T> {
  readonly value: T;
  readonly before: string;
  readonly after: string;
  /** Absent where the texts are too large to compare. */
  readonly diff?: FileDiff;
}

/** Changes the text of a file that exists, in one step. `change` may run again. Rejects with a ToolError. */
export async function changeText<T>(
  ctx: ToolContext,
  place: ResolvedFile,
  change: (text: string, path: string) => TextChange<T>,
): Promise<ChangedText<T>> {
  const { displayPath } = place.path;
  return changeFile(ctx, place, { create: false }, async (stats, read) => {
    if (!stats) throw await missingFile(place, 'Use file_write to create it.');
    const before = decodeText(await read(LIMIT), displayPath);
    const { text, value } = change(before, displayPath);
    const diff = fileDiff(displayPath, before, text, ctx);
    return { bytes: Buffer.from(text, 'utf8'), value: { value, before, after: text, ...(diff === undefined ? {} : { diff }) } };
  });
}
