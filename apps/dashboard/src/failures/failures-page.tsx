import { Badge, Group, Table, Text, Tooltip, VisuallyHidden } from '@mantine/core';
import { IconMoodSmile } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { FailureGroup } from '#contracts';
import { escapeInvisible, subjectText } from '#subject';
import { BulkModal } from '../calls/bulk-modal.js';
import { CallLink } from '../call/call-facts.js';
import { LinkAnchor } from '../components/links.js';
import { PageHead } from '../components/page-head.js';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { TimeWindow, WINDOWS } from '../components/time-window.js';
import { ScopedButton } from '../components/scoped-button.js';
import stacked from '../components/stacked.module.css';
import { Ago } from '../components/time.js';
import { useSubjects } from '../components/use-subjects.js';
import { useRowKeys } from '../components/use-row-keys.js';
import { useToolyard } from '../stream/toolyard.js';
import { AffectedCallers } from './affected-callers.js';
import { markOf, mayReplayHelp, type FailureMark } from './failure-marks.js';
import { Sparkline } from '../components/sparkline.js';

const route = getRouteApi('/failures');
/** Least time between reloads of the groups after failures. */
const ASK_MS = 1000;

/** Failures grouped by similarity, with counts, times and a replay of a whole group. */
export function FailuresPage() {
  const { window = '24h' } = route.useSearch();
  const navigate = route.useNavigate();
  const { client } = useToolyard();
  const list = useRowKeys<HTMLDivElement>();
  const [replaying, setReplaying] = useState<FailureGroup>();
  const failures = useQuery({
    queryKey: ['failures', window],
    queryFn: ({ signal }) => client.stats.failures({ since: new Date(Date.now() - WINDOWS[window]).toISOString() }, { signal }),
    staleTime: 0,
    // The gateway has not counted it yet: load again later.
    refetchInterval: ({ state }) => (state.data?.behind === undefined ? false : ASK_MS),
  });
  useAskAgainAfterFailures();
  const groups = failures.data?.failures ?? [];
  const since = failures.data?.since;
  return (
    <>
      <PageHead title="Failures" about="The same tool, the same error, the same message but for numbers, ids and paths.">
        <TimeWindow
          value={window}
          names={['1h', '24h', '7d', '30d']}
          onChange={(chosen) => void navigate({ search: { window: chosen } })}
        />
      </PageHead>
      {failures.isPending && <LoadingRows />}
      {failures.isError && <ErrorState error={failures.error} onRetry={() => void failures.refetch()} />}
      {failures.isSuccess && groups.length === 0 && (
        <EmptyState icon={IconMoodSmile} title="Nothing failed">
          No call failed in this time. Groups appear here by themselves.
        </EmptyState>
      )}
      {groups.length > 0 && (
        <Table.ScrollContainer minWidth={760} className={stacked['stacked']} ref={list}>
          <Table verticalSpacing="xs" highlightOnHover aria-label="Groups of failures">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>What went wrong</Table.Th>
                <Table.Th>When</Table.Th>
                <Table.Th ta="right">Calls</Table.Th>
                <Table.Th>Affected</Table.Th>
                <Table.Th>Last</Table.Th>
                <Table.Th>
                  <VisuallyHidden>Actions</VisuallyHidden>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {groups.map((group) => (
                <GroupRow
                  key={group.fingerprint}
                  group={group}
                  windowMs={WINDOWS[window]}
                  since={since}
                  onReplay={() => setReplaying(group)}
                />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
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

interface GroupRowProps {
  readonly group: FailureGroup;
  readonly windowMs: number;
  readonly since: string | undefined;
  readonly onReplay: () => void;
}

function GroupRow({ group, windowMs, since, onReplay }: GroupRowProps) {
  const { fingerprint, message, code, tool, count } = group;
  const subject = escapeInvisible(subjectText(group.preview ?? '', useSubjects(tool)));
  const mark = markOf(group, windowMs);
  return (
    <Table.Tr data-fingerprint={fingerprint} data-row>
      <Table.Td data-line>
        <Text size="sm" fw={550} lineClamp={2} maw={400} style={{ overflowWrap: 'anywhere' }}>
          {message === '' ? 'An error without a text' : escapeInvisible(message)}
        </Text>
        <Text size="xs" c="dimmed" ff="monospace" truncate maw={400} title={subject} data-subject>
          {subject}
        </Text>
        <Group gap={6} mt={2}>
          <Badge size="xs" variant="default" tt="none">
            {tool}
          </Badge>
          <Badge size="xs" variant="default" tt="none">
            {code ?? 'error result'}
          </Badge>
          {mark && (
            <Tooltip label={MARKS[mark].why}>
              <Badge size="xs" color={MARKS[mark].color} variant="light" tt="none" data-mark={mark}>
                {MARKS[mark].label}
              </Badge>
            </Tooltip>
          )}
        </Group>
      </Table.Td>
      <Table.Td>
        <Sparkline counts={group.counts} label={`When they failed, in ${group.counts.length} parts of the period`} />
      </Table.Td>
      <Table.Td ta="right" fw={650} data-label="Calls">
        {count.toLocaleString()}
      </Table.Td>
      <Table.Td maw={160}>
        <AffectedCallers agents={group.agents} sessions={group.sessions} />
      </Table.Td>
      <Table.Td data-label="Last">
        <Ago at={Date.parse(group.lastSeen)} /> <CallLink id={group.lastCallId} />
      </Table.Td>
      <Table.Td>
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          <LinkAnchor data-open size="sm" to="/calls" search={{ fingerprint, since }}>
            Show
          </LinkAnchor>
          {mayReplayHelp(code) && (
            <ScopedButton scope="submit" size="compact-xs" variant="default" onClick={onReplay}>
              Replay all …
            </ScopedButton>
          )}
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

const MARKS = {
  new: { label: 'New', color: 'orange', why: 'Nothing like it is known from before this period.' },
  back: { label: 'Back', color: 'yellow', why: 'It did not happen for at least as long as this period, and does again.' },
} as const satisfies Record<FailureMark, object>;

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
