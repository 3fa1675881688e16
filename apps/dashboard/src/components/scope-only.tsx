import { IconLock } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Scope } from '#contracts';
import { useScopes } from '../stream/use-scopes.js';
import { PageHead } from './page-head.js';
import { EmptyState } from './states.js';

/** Shows its children for a key with the scope, the reason for other keys. */
export function ScopeOnly({ scope, title, children }: { readonly scope: Scope; readonly title: string; readonly children: ReactNode }) {
  const lacking = useScopes().lacks(scope);
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
