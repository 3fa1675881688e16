import { Button, Group, Text } from '@mantine/core';
import { IconBan, IconFilterOff, IconRepeat, IconDownload } from '@tabler/icons-react';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import type { CallFilter, CallFilterInput } from '#contracts';
import { PageHead } from '../components/page-head.js';
import { ScopedButton } from '../components/scoped-button.js';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { useFrames } from '../stream/frame-store.js';
import { useToolyard } from '../stream/toolyard.js';
import { BulkModal, type BulkAction } from '../calls/bulk-modal.js';
import { CallFilters } from '../calls/call-filters.js';
import { CallList } from '../calls/call-list.js';
import { CallPreview } from './call-preview.js';
import { filterOf, isEmpty, readFilter, readSearch, type CallSearch } from '../calls/call-search.js';
import { readView, sortRows, type CallListView } from '../calls/call-view-search.js';
import { ColumnMenu, SavedViews } from '../calls/view-menu.js';
import { foldedRuns } from '../calls/folded-runs.js';
import { CallTable, KEPT_ROWS } from '../calls/call-table.js';
import { FirstRun } from '../live/first-run.js';
import { LinkButton } from '../components/links.js';
import classes from './calls-page.module.css';
import { notifyError } from '../components/notify.js';
import { saveFile } from '../components/save-file.js';

const route = getRouteApi('/calls');
const PAGE = 100;
/** Pages that are loaded, without scrolling, to fill the screen: one row may stand for all the calls of a page. */
const UNASKED_PAGES = 5;

/** Orders beside the usual one, as the page names them. */
const ORDERS = { risk: 'Highest risk', longest: 'Longest run', shortest: 'Shortest run' } as const;

/** All calls: filtered by the address, moved by events, further back by scrolling. */
export function CallsPage() {
  const address = route.useSearch();
  const text = JSON.stringify(readSearch(address));
  const search = useMemo(() => readSearch(JSON.parse(text)), [text]);
  const view = readView(address);
  const navigate = route.useNavigate();
  const [bulk, setBulk] = useState<BulkAction>();
  const openedAt = useMemo(() => Date.now(), [search]);
  const read = useMemo(() => readFilter(search, openedAt), [search, openedAt]);
  const whyNot = isEmpty(search) ? 'Set a filter first: without one it would mean every call there is.' : undefined;
  const change = (next: CallSearch) => void navigate({ search: { ...next, ...view }, replace: true });
  const show = (next: CallListView) => void navigate({ search: { ...search, ...next }, replace: true });

  return (
    <>
      <PageHead title="Calls" about={`${view.sort === undefined ? 'Newest' : ORDERS[view.sort]} first; rows move as events arrive.`}>
        {'filter' in read && <ExportButton filter={filterOf(search, openedAt)} />}
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
      <CallFilters search={search} onChange={change}>
        <ColumnMenu
          view={view}
          onChange={(hide) => {
            const { hide: _hide, ...others } = view;
            show(hide === undefined ? others : { ...others, hide });
          }}
        />
        <SavedViews search={{ ...search, ...view }} />
      </CallFilters>
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
        <FilteredCalls key={text} search={search} filter={read.filter} view={view} onView={show} onFilter={change} />
      )}
      {bulk !== undefined && (
        <BulkModal action={bulk} filter={filterOf(search, openedAt)} search={search} onClose={() => setBulk(undefined)} />
      )}
    </>
  );
}

interface FilteredCallsProps {
  readonly search: CallSearch;
  readonly filter: CallFilter;
  readonly view: CallListView;
  readonly onView: (view: CallListView) => void;
  readonly onFilter: (search: CallSearch) => void;
}

function FilteredCalls({ search, filter, view, onView, onFilter }: FilteredCallsProps) {
  const { client, feed } = useToolyard();
  const table = useMemo(() => new CallTable(filter), [filter]);
  const byRunTime = view.sort === 'longest' || view.sort === 'shortest';
  const order = view.sort === 'risk' ? { sort: view.sort } : {};
  const pages = useInfiniteQuery({
    queryKey: ['calls', filter, order],
    queryFn: ({ pageParam, signal }) =>
      client.calls.list({ ...filter, ...order, limit: PAGE, ...(pageParam === undefined ? {} : { cursor: pageParam }) }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });

  useEffect(() => feed.listen((events) => table.events(events)), [feed, table]);
  // Whatever a reconnect may have jumped over is in the answer; what is newer stays.
  useEffect(() => feed.onLive(() => void pages.refetch()), [feed, pages.refetch]);
  useEffect(() => table.answerPages(pages.data?.pages ?? []), [table, pages.data]);

  const version = useFrames(table);
  const { rows, loadedPages } = useMemo(
    () => ({ rows: sortRows(table.list(), view.sort), loadedPages: table.loadedPages }),
    [table, version, view.sort],
  );
  // Each run has its row in a list of a schedule, or in another order.
  const isFolding = search.scheduleId === undefined && view.sort === undefined;
  const shown = useMemo(() => (isFolding ? foldedRuns(rows) : rows), [rows, isFolding]);
  const full = table.size >= KEPT_ROWS;
  const [allowedPages, setAllowedPages] = useState(UNASKED_PAGES);
  const allowMore = () => setAllowedPages(loadedPages + UNASKED_PAGES);
  const canLoad = pages.hasNextPage && !pages.isFetchingNextPage && !full;
  const isWaiting = canLoad && !byRunTime && loadedPages >= allowedPages;
  const { fetchNextPage } = pages;
  // The gateway does not list by run time: the longest run may be on the last page. A refetch goes first, and is not cancelled.
  const isLoadingAll = byRunTime && canLoad && !pages.isFetching && !pages.isError;
  useEffect(() => {
    if (isLoadingAll) void fetchNextPage();
  }, [isLoadingAll, fetchNextPage]);

  if (pages.isError && rows.length === 0) return <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />;
  if (pages.isPending && rows.length === 0) return <LoadingRows rows={10} />;
  if (rows.length === 0) return <NoCalls filtered={!isEmpty(search)} />;
  return (
    <>
      {pages.isError && <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />}
      <div className={classes['beside']} {...(view.peek === undefined ? {} : { 'data-peeking': true })}>
        <CallList
          rows={shown}
          view={view}
          onView={onView}
          onFilter={(cell) => onFilter({ ...search, ...cell })}
          onEnd={() => {
            // Until the last page is among the rows, their end is not that of the list.
            const isDrawn = loadedPages === pages.data?.pages.length;
            if (canLoad && isDrawn && !isWaiting) void pages.fetchNextPage();
          }}
          onScroll={allowMore}
          foot={
            pages.isFetchingNextPage ? (
              'Loading further calls …'
            ) : full ? (
              `There are more calls than the ${KEPT_ROWS.toLocaleString()} shown. Narrow the filter to see others.`
            ) : isWaiting ? (
              <Button size="compact-xs" variant="subtle" onClick={allowMore}>
                Load older calls
              </Button>
            ) : undefined
          }
        />
        {view.peek !== undefined && (
          <CallPreview
            key={view.peek}
            callId={view.peek}
            onClose={() => {
              const { peek: _peek, ...others } = view;
              onView(others);
            }}
          />
        )}
      </div>
      <Group justify="space-between" mt={6}>
        <Text size="xs" c="dimmed" data-testid="row-count">
          {byRunTime && pages.hasNextPage && 'sorted among the calls that are loaded: '}
          {countText(rows.length, pages.data?.pages[0]?.total, { full, more: pages.hasNextPage, isWaiting })}
        </Text>
      </Group>
    </>
  );
}

interface ListEnd {
  readonly full: boolean;
  readonly more: boolean;
  /** True if only the button loads more. */
  readonly isWaiting: boolean;
}

/** `total`: of the time when it was asked for; events bring more. */
function countText(rows: number, total: number | undefined, { full, more, isWaiting }: ListEnd): string {
  const shown = rows.toLocaleString();
  if (full) return `${shown} of more`;
  if (total !== undefined && total > rows)
    return `${shown} of ${total.toLocaleString()} calls are loaded${isWaiting ? '' : '; scroll for more'}`;
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
    <FirstRun />
  );
}

/** Saves all events of the calls of a filter, one JSON text a line. The browser keeps them until they are complete. */
function ExportButton({ filter }: { readonly filter: CallFilterInput }) {
  const { client } = useToolyard();
  const load = useMutation({
    mutationFn: async () => new Response(await client.calls.export(filter)).blob(),
    onSuccess: (events) => saveFile(events, 'calls.jsonl', 'application/jsonl'),
    onError: (error) => notifyError('The export is not complete', error),
  });
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<IconDownload size={15} aria-hidden />}
      loading={load.isPending}
      onClick={() => load.mutate()}
    >
      Export
    </Button>
  );
}
