import { Text } from '@mantine/core';
import type { FileChange } from '#contracts';
import { hunkHeader } from '#subject';
import { VisibleText } from '../components/visible-text.js';
import { CodeBlock } from './code-block.js';
import classes from './subject.module.css';

/** What a call has changed in a file, as a unified diff. */
export function ChangeView({ change: { path, added, removed, hunks, truncated } }: { readonly change: FileChange }) {
  const lines = hunks.flatMap((hunk) => [hunkHeader(hunk), ...hunk.lines]);
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
