import { Text } from '@mantine/core';
import { useMemo } from 'react';
import type { FileChange } from '#contracts';
import { hunkRows } from '#subject';
import { DiffTable } from '../components/diff-view.js';
import { VisibleText } from '../components/visible-text.js';

/** Changes of a call in a file, with the line numbers of the file. */
export function ChangeView({ change: { path, added, removed, hunks, truncated } }: { readonly change: FileChange }) {
  const rows = useMemo(() => hunkRows(hunks), [hunks]);
  return (
    <div>
      <Text size="sm" mb={4}>
        <code>
          <VisibleText text={path} />
        </code>
      </Text>
      <DiffTable rows={rows} added={added} removed={removed} label={`Changes of ${path}`} />
      {truncated && (
        <Text size="xs" c="dimmed">
          Not all of the change is shown.
        </Text>
      )}
    </div>
  );
}
