import { Button, Group, Text } from '@mantine/core';
import { IconBan, IconFilterOff, IconListDetails, IconRepeat } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import type { CallFilter } from '#contracts';
import { PageHead } from '../components/page-head.js';
import { ScopedButton } from '../components/scoped-button.js';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { useFrames } from '../stream/frame-store.js';
import { useToolyard } from '../stream/toolyard.js';
import { BulkModal, type BulkAction } from './bulk-modal.js';
import { CallFilters } from './call-filters.js';
import { CallList } from './call-list.js';
import { filterOf, isEmpty, readFilter, type CallSearch } from './call-search.js';
import { CallTable, KEPT_ROWS } from './call-table.js';
import { LinkButton } from '../components/links.js';

const route = getRouteApi('/calls');
const PAGE = 100;

/** All calls: filtered by the address, moved by events, further back by scrolling. */
export function CallsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [bulk, setBulk] = useState<BulkAction>();
  const openedAt = useMemo(() => Date.now(), [search]);
  const read = useMemo(() => readFilter(search, openedAt), [search, openedAt]);
  const whyNot = isEmpty(search) ? 'Set a filter first: without one it would mean every call there is.' : undefined;
  const change = (next: CallSearch) => void navigate({ search: next, replace: true });

  return (
    <>
      <PageHead title="Calls" about="Newest first; rows move as events arrive.">
        <ScopedButton
          scope="cancel"
          whyNot={whyNot}
          variant="default"
          size="xs"
          leftSection={<IconBan size={15} aria-hidden />}
          onClick={() => setBulk('cancel')}
        >
          Cancel all …
        </ScopedButton>
        <ScopedButton
          scope="submit"
          whyNot={whyNot}
          variant="default"
          size="xs"
          leftSection={<IconRepeat size={15} aria-hidden />}
          onClick={() => setBulk('replay')}
        >
          Replay all …
        </ScopedButton>
      </PageHead>
      <CallFilters search={search} onChange={change} />
      {'fault' in read ? (
        <EmptyState
          icon={IconFilterOff}
          title="The filter in the address cannot be read"
          action={
            <Button variant="default" size="xs" mt="xs" onClick={() => change({})}>
              Clear the filter
            </Button>
          }
        >
          {read.fault}
        </EmptyState>
      ) : (
        <FilteredCalls key={JSON.stringify(search)} search={search} filter={read.filter} />
      )}
      {bulk !== undefined && (
        <BulkModal action={bulk} filter={filterOf(search, openedAt)} search={search} onClose={() => setBulk(undefined)} />
      )}
    </>
  );
}

function FilteredCalls({ search, filter }: { readonly search: CallSearch; readonly filter: CallFilter }) {
  const { client, feed } = useToolyard();
  const table = useMemo(() => new CallTable(filter), [filter]);
  const pages = useInfiniteQuery({
    queryKey: ['calls', filter],
    queryFn: ({ pageParam, signal }) =>
      client.calls.list({ ...filter, limit: PAGE, ...(pageParam === undefined ? {} : { cursor: pageParam }) }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });

  useEffect(() => feed.listen((events) => table.events(events)), [feed, table]);
  // Whatever a reconnect may have jumped over is in the answer; what is newer stays.
  useEffect(() => feed.onLive(() => void pages.refetch()), [feed, pages.refetch]);
  useEffect(() => {
    for (const page of pages.data?.pages ?? []) table.answer(page.calls);
  }, [table, pages.data]);

  const version = useFrames(table);
  const rows = useMemo(() => table.list(), [table, version]);
  const full = table.size >= KEPT_ROWS;

  if (pages.isError && rows.length === 0) return <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />;
  if (pages.isPending && rows.length === 0) return <LoadingRows rows={10} />;
  if (rows.length === 0) return <NoCalls filtered={!isEmpty(search)} />;
  return (
    <>
      {pages.isError && <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />}
      <CallList
        rows={rows}
        onEnd={() => {
          if (pages.hasNextPage && !pages.isFetchingNextPage && !full) void pages.fetchNextPage();
        }}
        foot={
          pages.isFetchingNextPage
            ? 'Loading older calls …'
            : full
              ? `The ${KEPT_ROWS.toLocaleString()} newest are shown. Narrow the filter to see older ones.`
              : undefined
        }
      />
      <Group justify="space-between" mt={6}>
        <Text size="xs" c="dimmed" data-testid="row-count">
          {countText(rows.length, pages.data?.pages[0]?.total, { full, more: pages.hasNextPage })}
        </Text>
      </Group>
    </>
  );
}

/** `total`: of the time when it was asked for; events bring more. */
function countText(rows: number, total: number | undefined, { full, more }: { readonly full: boolean; readonly more: boolean }): string {
  const shown = rows.toLocaleString();
  if (full) return `the ${shown} newest`;
  if (total !== undefined && total > rows) return `${shown} of ${total.toLocaleString()}`;
  return more ? `${shown} loaded` : `${shown} ${rows === 1 ? 'call' : 'calls'}`;
}

function NoCalls({ filtered }: { readonly filtered: boolean }) {
  return filtered ? (
    <EmptyState
      icon={IconFilterOff}
      title="No call fits this filter"
      action={
        <LinkButton to="/calls" variant="default" size="xs" mt="xs">
          Show all calls
        </LinkButton>
      }
    >
      A call that fits will appear here by itself.
    </EmptyState>
  ) : (
    <EmptyState
      icon={IconListDetails}
      title="No calls yet"
      action={
        <LinkButton to="/tools" variant="default" size="xs" mt="xs">
          Try a tool
        </LinkButton>
      }
    >
      Submit one over HTTP, WebSocket or the SDK, or try a tool from the catalog. It will appear here by itself.
    </EmptyState>
  );
}
