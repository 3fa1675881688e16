import { FileChange, type Result } from '#contracts';

/** The changes of files that a tool reports among the details of its result; none for other details. */
export function fileChanges(details: Result['details']): FileChange[] {
  const { diff, diffs } = details ?? {};
  const reported = Array.isArray(diffs) ? [diff, ...diffs] : [diff];
  return reported.flatMap((change) => FileChange.safeParse(change).data ?? []);
}

/** `@@ -1,3 +1,4 @@`, as it stands above the lines of a hunk. */
export function hunkHeader({ oldStart, oldLines, newStart, newLines }: FileChange['hunks'][number]): string {
  return `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
}
