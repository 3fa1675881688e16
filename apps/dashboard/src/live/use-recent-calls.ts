import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import type { CallRow } from '../calls/call-row.js';
import { CallTable } from '../calls/call-table.js';
import { useFrames } from '../stream/frame-store.js';
import { useToolyard } from '../stream/toolyard.js';

const KEPT = 500;
const OPEN = ['queued', 'running', 'waiting_approval', 'waiting_input'].join(',');

export interface RecentCalls {
  /** Undefined until they are loaded. */
  readonly rows: readonly CallRow[] | undefined;
  /** Why they cannot be loaded; null where they can. */
  readonly error: Error | null;
  readonly retry: () => void;
}

/** Calls that have not ended and the newest others, moved by events. */
export function useRecentCalls(): RecentCalls {
  const { client, feed } = useToolyard();
  const table = useMemo(() => new CallTable({}, KEPT), []);
  const { data, error, refetch } = useQuery({
    queryKey: ['recent-calls'],
    queryFn: async ({ signal }) => {
      const pages = await Promise.all([
        client.calls.list({ status: OPEN, limit: 200 }, { signal }),
        client.calls.list({ limit: 100 }, { signal }),
      ]);
      return pages.flatMap(({ calls }) => calls);
    },
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEffect(() => feed.listen((events) => table.events(events)), [feed, table]);
  useEffect(() => feed.onLive(() => void refetch()), [feed, refetch]);
  useEffect(() => {
    if (data) table.answer(data);
  }, [table, data]);
  const version = useFrames(table);
  const rows = useMemo(() => table.list(), [table, version]);
  return { rows: data === undefined && rows.length === 0 ? undefined : rows, error, retry: () => void refetch() };
}
