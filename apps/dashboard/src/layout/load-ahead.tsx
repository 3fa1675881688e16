import { useEffect } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { router } from '../router.js';
import { useToolyard } from '../stream/toolyard.js';
import { loadLanguages } from '../subject/highlight.js';

/**
 * Loads the files of all pages once events arrive, so that each page opens while the gateway is away, and asks again for what failed
 * when it is back.
 */
export function LoadAhead() {
  const { feed } = useToolyard();
  const queries = useQueryClient();
  useEffect(
    () =>
      feed.onLive(() => {
        void loadAll();
        void queries.refetchQueries({ predicate: ({ state }) => state.status === 'error', type: 'active' });
      }),
    [feed, queries],
  );
  return null;
}

/** Files that are there already are not loaded again. What fails is loaded when it is needed. */
async function loadAll(): Promise<void> {
  for (const route of Object.values(router.routesById)) await router.loadRouteChunk(route);
  await Promise.allSettled([import('../components/argument-form.js'), loadLanguages()]);
  document.documentElement.dataset['pages'] = 'loaded';
}
