import { ToolError } from '#tool-sdk';

/** Most files of a patch. */
export const MOST_FILES = 50;

/** Change of one file by a patch of any form. */
export interface FileChange {
  readonly kind: 'change' | 'create' | 'delete' | 'rename' | 'copy';
  /** Path after the patch; for a deleted file, its former path. */
  readonly path: string;
  /** Source path of a renamed or copied file. */
  readonly from?: string;
  readonly hunks: readonly Hunk[];
  /** Hunks of further parts for the same file, which apply to the text after earlier ones. */
  readonly later?: readonly (readonly Hunk[])[];
  /** Executable bit after the patch; absent if the patch does not change it. */
  readonly executable?: boolean;
  /** Deletes without comparing the content. */
  readonly whole?: true;
  /** A part of the patch that is not applied. */
  readonly note?: string;
}

export interface Hunk {
  /** Title for messages: number and position of the hunk in the patch. */
  readonly title: string;
  readonly lines: readonly HunkLine[];
  /** First line before the patch, counted from 1; with no lines before, the line behind which it inserts. */
  readonly start?: number;
  /** The counts of its header, where they are not those of its lines. */
  readonly wrongCounts?: string;
  /** Lines of the file above the hunk, outermost first. */
  readonly anchors: readonly string[];
  /** Present if the last line of the hunk is the last of the file. */
  readonly atEnd?: true;
}

export interface HunkLine {
  readonly mark: ' ' | '-' | '+';
  /** Line without its line feed. */
  readonly text: string;
  /** Followed by "\ No newline at end of file". */
  readonly unended?: true;
}

/** Path at which no file is left of a change; undefined where one stays. */
export function vacatedBy({ kind, path, from }: FileChange): string | undefined {
  return kind === 'rename' ? from : kind === 'delete' ? path : undefined;
}

export const isBefore = ({ mark }: HunkLine): boolean => mark !== '+';
export const isAfter = ({ mark }: HunkLine): boolean => mark !== '-';

/** The counts of a header that fits the lines. */
export function countsOf(lines: readonly HunkLine[]): string {
  return `${lines.filter(isBefore).length} lines before and ${lines.filter(isAfter).length} after`;
}

export function invalid(why: string): ToolError {
  return new ToolError('invalid_arguments', `Invalid patch: ${why}`);
}
