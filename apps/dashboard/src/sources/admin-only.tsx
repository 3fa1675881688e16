import { IconLock } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { PageHead } from '../components/page-head.js';
import { EmptyState } from '../components/states.js';
import { useScopes } from '../stream/use-scopes.js';

/** Its children for a key with the scope `admin`; the reason for others. */
export function AdminOnly({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const lacking = useScopes().lacks('admin');
  if (lacking === undefined) return children;
  return (
    <>
      <PageHead title={title} />
      <EmptyState icon={IconLock} title="Not for this key">
        {lacking}
      </EmptyState>
    </>
  );
}
