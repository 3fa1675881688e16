import { Text } from '@mantine/core';
import { z } from 'zod';
import { VisibleText } from '../components/visible-text.js';
import { CodeBlock } from './code-block.js';
import classes from './subject.module.css';

const Change = z.object({
  path: z.string(),
  added: z.number(),
  removed: z.number(),
  truncated: z.boolean(),
  hunks: z.array(
    z.object({
      oldStart: z.number(),
      oldLines: z.number(),
      newStart: z.number(),
      newLines: z.number(),
      lines: z.array(z.string()),
    }),
  ),
});
export type Change = z.output<typeof Change>;

/** The changes of files that a tool reports among the details of its result; none for other details. */
export function changesOf(details: unknown): Change[] {
  const reported = z
    .object({ diff: z.unknown(), diffs: z.array(z.unknown()) })
    .partial()
    .safeParse(details).data;
  return [reported?.diff, ...(reported?.diffs ?? [])].flatMap((change) => Change.safeParse(change).data ?? []);
}

/** What a call has changed in a file, as a unified diff. */
export function ChangeView({ change: { path, added, removed, hunks, truncated } }: { readonly change: Change }) {
  const lines = hunks.flatMap((hunk) => [`@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`, ...hunk.lines]);
  return (
    <div>
      <Text size="sm">
        <span className={classes['added']}>+{added}</span> <span className={classes['removed']}>−{removed}</span>{' '}
        <code>
          <VisibleText text={path} />
        </code>
      </Text>
      <CodeBlock code={lines.join('\n')} language="diff" label={`Changes of ${path}`} writtenOut={false} />
      {truncated && (
        <Text size="xs" c="dimmed">
          Not all of the change is shown.
        </Text>
      )}
    </div>
  );
}
