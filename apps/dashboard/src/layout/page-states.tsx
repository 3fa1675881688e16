import { IconMapOff, IconPlugConnectedX } from '@tabler/icons-react';
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { LinkButton } from '../components/links.js';
import { useOutage } from '../stream/use-outage.js';
import { useToolyard } from '../stream/toolyard.js';
import { PageNotLoaded } from './page-of.js';

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
  if (error instanceof PageNotLoaded) return <PageAwaited error={error} />;
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

/** A page whose file was not loaded: opened by loading the window again, by itself when the gateway is back. */
function PageAwaited({ error }: { readonly error: PageNotLoaded }) {
  const { feed } = useToolyard();
  const outage = useOutage();
  const reload = () => location.reload();
  useEffect(() => feed.onLive(reload), [feed]);
  if (outage === undefined) return <ErrorState error={error} onRetry={reload} />;
  return (
    <EmptyState icon={IconPlugConnectedX} whole title="This page is not loaded yet">
      It opens by itself as soon as the gateway is back.
    </EmptyState>
  );
}
