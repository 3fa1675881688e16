import { NativeSelect, Table, TextInput, VisuallyHidden } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconFilterOff, IconMoodSmile, IconSearch } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { FailureGroup } from '#contracts';
import { BulkModal } from '../calls/bulk-modal.js';
import { PageHead } from '../components/page-head.js';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { TimeWindow, WINDOWS } from '../components/time-window.js';
import stacked from '../components/stacked.module.css';
import { useRowKeys } from '../components/use-row-keys.js';
import { useToolyard } from '../stream/toolyard.js';
import { FailurePane } from './failure-pane.js';
import { FailureRow } from './failure-row.js';
import { FAILURE_ORDERS, failureOrderOf, shownGroups, type FailureSearch } from './failure-search.js';
import { FailureSummary } from './failure-summary.js';
import classes from './failures-page.module.css';

const route = getRouteApi('/failures');
/** Least time between reloads of the groups after failures. */
const ASK_MS = 1000;
const SETTLED_MS = 300;

/** Failures grouped by similarity, with counts, times and a replay of a whole group. */
export function FailuresPage() {
  const search = route.useSearch();
  const { window = '24h', sort = 'calls', q = '' } = search;
  const windowMs = WINDOWS[window];
  const navigate = route.useNavigate();
  const { client } = useToolyard();
  const rows = useRowKeys<HTMLDivElement>();
  const [replaying, setReplaying] = useState<FailureGroup>();
  const failures = useQuery({
    queryKey: ['failures', window],
    queryFn: ({ signal }) => client.stats.failures({ since: new Date(Date.now() - windowMs).toISOString() }, { signal }),
    staleTime: 0,
    // The gateway has not counted it yet: load again later.
    refetchInterval: ({ state }) => (state.data?.behind === undefined ? false : ASK_MS),
  });
  useAskAgainAfterFailures();
  const groups = failures.data?.failures ?? [];
  const shown = shownGroups(groups, search, windowMs);
  const { peek, ...list } = search;
  const peeked = shown.find(({ fingerprint }) => fingerprint === peek);
  const since = failures.data?.since;
  const change = (next: FailureSearch) => void navigate({ search: next, replace: true });
  const [typed, setTyped] = useState(q);
  const settle = useDebouncedCallback((text: string) => change({ ...search, q: text === '' ? undefined : text }), SETTLED_MS);
  useEffect(() => setTyped(q), [q]);
  return (
    <>
      <PageHead title="Failures" about="The same tool, the same error, the same message but for numbers, ids and paths.">
        <TextInput
          size="xs"
          aria-label="Search failures"
          placeholder="Search"
          leftSection={<IconSearch size={14} aria-hidden />}
          value={typed}
          onChange={({ currentTarget: { value } }) => {
            setTyped(value);
            settle(value);
          }}
        />
        <NativeSelect
          size="xs"
          aria-label="Order"
          value={sort}
          onChange={({ currentTarget: { value } }) => change({ ...search, sort: failureOrderOf(value) })}
          data={Object.entries(FAILURE_ORDERS).map(([value, label]) => ({ value, label }))}
        />
        <TimeWindow
          value={window}
          names={['1h', '24h', '7d', '30d']}
          onChange={(chosen) => void navigate({ search: { ...search, window: chosen } })}
        />
      </PageHead>
      {failures.isPending && <LoadingRows />}
      {failures.isError && <ErrorState error={failures.error} onRetry={() => void failures.refetch()} />}
      {failures.isSuccess && groups.length === 0 && (
        <EmptyState icon={IconMoodSmile} title="Nothing failed">
          No call failed in this time. Groups appear here by themselves.
        </EmptyState>
      )}
      {failures.data !== undefined && groups.length > 0 && <FailureSummary page={failures.data} windowMs={windowMs} search={search} />}
      {groups.length > 0 && shown.length === 0 && (
        <EmptyState icon={IconFilterOff} title="No failure has these words">
          They are looked for in the message, the code, the tool, the arguments, and the names of agents and sessions.
        </EmptyState>
      )}
      {shown.length > 0 && (
        <div className={classes['beside']} {...(peeked === undefined ? {} : { 'data-peeking': true })}>
          <Table.ScrollContainer minWidth={peeked === undefined ? 760 : 480} className={stacked['stacked']} ref={rows}>
            <Table verticalSpacing="xs" highlightOnHover aria-label="Groups of failures">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>What went wrong</Table.Th>
                  <Table.Th>When</Table.Th>
                  <Table.Th ta="right">Calls</Table.Th>
                  <Table.Th data-aside>Affected</Table.Th>
                  <Table.Th>Last</Table.Th>
                  <Table.Th data-aside>
                    <VisuallyHidden>Actions</VisuallyHidden>
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {shown.map((group) => (
                  <FailureRow
                    key={group.fingerprint}
                    group={group}
                    windowMs={windowMs}
                    since={since}
                    search={search}
                    onReplay={() => setReplaying(group)}
                  />
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
          {peeked !== undefined && (
            <FailurePane
              key={peeked.fingerprint}
              group={peeked}
              windowMs={windowMs}
              since={since}
              list={list}
              onReplay={() => setReplaying(peeked)}
              onClose={() => change(list)}
            />
          )}
        </div>
      )}
      {replaying && (
        <BulkModal
          action="replay"
          filter={{ fingerprint: replaying.fingerprint, since }}
          search={{ tool: replaying.tool, ...(replaying.code === undefined ? { result: 'error' } : { errorCode: replaying.code }) }}
          onClose={() => setReplaying(undefined)}
        />
      )}
    </>
  );
}

function useAskAgainAfterFailures() {
  const { feed } = useToolyard();
  const queries = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = feed.listen((events) => {
      if (!events.some((event) => event.type === 'call.end' && (event.data.error !== undefined || event.data.isError === true))) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        void queries.invalidateQueries({ queryKey: ['failures'] });
      }, ASK_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [feed, queries]);
}
