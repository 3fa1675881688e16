import { Alert, Button, Center, Code, Group, Skeleton, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { useTimeout } from '@mantine/hooks';
import { IconAlertTriangle, IconInbox, IconRefresh, type TablerIcon } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { ToolyardError } from '#client';

/** Delay after which a note says that loading continues. */
const SLOW_MS = 3000;

/** An empty page or list: the reason, and what to do. */
export function EmptyState({ icon: Icon = IconInbox, title, whole = false, children, action }: EmptyStateProps) {
  return (
    <Center py={48} px="md">
      <Stack align="center" gap="xs" maw={460}>
        <ThemeIcon size={48} radius="xl" variant="light" color="gray">
          <Icon size={26} stroke={1.5} aria-hidden />
        </ThemeIcon>
        <Title order={whole ? 1 : 2}>{title}</Title>
        <Text component="div" c="dimmed" size="sm" ta="center">
          {children}
        </Text>
        {action}
      </Stack>
    </Center>
  );
}

interface EmptyStateProps {
  readonly icon?: TablerIcon;
  readonly title: string;
  /** True if the state fills the page; its title is then the page's heading. */
  readonly whole?: boolean;
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

/** An error with the gateway's message and advice. */
export function ErrorState({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { title, advice } = explain(error);
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={title} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{messageOf(error)}</Text>
        {advice !== undefined && <Text size="sm">{advice}</Text>}
        {error instanceof ToolyardError && (
          <Group gap="xs">
            <Code>{error.code}</Code>
            {error.problem?.instance !== undefined && <Code>{error.problem.instance}</Code>}
          </Group>
        )}
        {onRetry && (
          <Button size="xs" variant="default" leftSection={<IconRefresh size={14} aria-hidden />} onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function explain(error: unknown): { readonly title: string; readonly advice?: string } {
  const status = error instanceof ToolyardError ? error.status : undefined;
  const code = error instanceof ToolyardError ? error.code : undefined;
  if (status === 401) return { title: 'The key is no longer known', advice: 'Sign out and enter another one.' };
  if (status === 403) return { title: 'Your key may not do this', advice: 'Ask for a key with the scope that is named above.' };
  if (status === 404) return { title: 'Not found', advice: 'It may have ended long ago, or belong to another tenant.' };
  if (status === 501) return { title: 'This gateway cannot do that yet' };
  if (status === 429) return { title: 'Too many requests', advice: 'Wait a moment, then try again.' };
  if (code === 'unreachable' || code === 'timed_out' || status === 503)
    return { title: 'The gateway is out of reach', advice: 'The page goes on by itself as soon as it is back.' };
  return { title: 'That did not work' };
}

/** The placeholder of rows that are being loaded. */
export function LoadingRows({ rows = 6 }: { readonly rows?: number }) {
  const [isSlow, setSlow] = useState(false);
  useTimeout(() => setSlow(true), SLOW_MS, { autoInvoke: true });
  return (
    <Stack gap="xs" role="status" aria-busy="true" aria-label="Loading">
      {isSlow && (
        <Text size="sm" c="dimmed">
          The gateway has not answered yet. It is asked again for a while.
        </Text>
      )}
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} height={28} radius="sm" />
      ))}
    </Stack>
  );
}
