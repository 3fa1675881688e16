import { Group, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useApprovalsWaiting } from '../stream/use-approvals-waiting.js';

/** The head of a page: title (also of the tab, with the number of waiting approvals), one line about it, and actions. */
export function PageHead({ title, tab, about, children }: PageHeadProps) {
  const waiting = useApprovalsWaiting();
  useDocumentTitle(`${waiting === 0 ? '' : `(${waiting}) `}${tab ?? (typeof title === 'string' ? title : '')} · Toolyard`);
  return (
    <Group justify="space-between" align="flex-end" gap="sm" mb="md" wrap="wrap">
      <div style={{ minWidth: 0 }}>
        <Title order={1}>{title}</Title>
        {about !== undefined && (
          <Text component="div" size="sm" c="dimmed">
            {about}
          </Text>
        )}
      </div>
      {children !== undefined && (
        <Group gap="xs" wrap="wrap">
          {children}
        </Group>
      )}
    </Group>
  );
}

interface PageHeadProps {
  readonly title: ReactNode;
  /** The title of the tab, if `title` is not text. */
  readonly tab?: string;
  readonly about?: ReactNode;
  readonly children?: ReactNode;
}
