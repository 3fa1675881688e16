import { IconMapOff } from '@tabler/icons-react';
import { useRouter } from '@tanstack/react-router';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { LinkButton } from '../components/links.js';

export function NotFoundPage() {
  return (
    <EmptyState
      icon={IconMapOff}
      whole
      title="There is no such page"
      action={
        <LinkButton to="/live" variant="default" mt="xs">
          To the live page
        </LinkButton>
      }
    >
      The address may be misspelt. Press / to search for a call, a session or a tool.
    </EmptyState>
  );
}

export function PageLoading() {
  return <LoadingRows />;
}

/** The error boundary of a page: the rest keeps working. */
export function PageFailed({ error, reset }: { readonly error: unknown; readonly reset: () => void }) {
  const router = useRouter();
  return (
    <ErrorState
      error={error}
      onRetry={() => {
        reset();
        void router.invalidate();
      }}
    />
  );
}
