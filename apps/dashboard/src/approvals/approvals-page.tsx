import { Alert, Box, Grid, Kbd, Text } from '@mantine/core';
import { IconChecklist, IconFilterOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { Call } from '#contracts';
import { actorText } from '#subject';
import { LinkAnchor } from '../components/links.js';
import { PageHead } from '../components/page-head.js';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { useKeys } from '../components/use-keys.js';
import { useToolyard } from '../stream/toolyard.js';
import { NoticesButton } from './approval-notices.js';
import { DecisionCard } from './decision-card.js';
import { Inbox } from './inbox.js';
import { InboxTools, type InboxSearch } from './inbox-tools.js';
import { Outcomes } from './outcomes.js';
import { BulkDecision } from './bulk-decision.js';
import { usePendingDecisions } from './use-pending-decisions.js';
import { useInbox } from './use-inbox.js';
import { MOST_WAITING, useWaitingCalls } from './use-waiting-calls.js';

/** The approvals inbox, operable by keyboard. */
export function ApprovalsPage() {
  const { callId: chosen } = useParams({ strict: false });
  const { group, sort, q }: InboxSearch = useSearch({ strict: false });
  const { query, calls, sort: sorted, hasMore } = useWaitingCalls(sort);
  const search = { ...(group && { group }), ...(sort && { sort }), ...(q !== undefined && { q }) };
  const { groups, shown, selected, select, selectNone, setHeld } = useInbox(calls, { ...search, sort: sorted });
  const navigate = useNavigate();
  const show = (callId: string | undefined, next: InboxSearch = search) =>
    void (callId === undefined
      ? navigate({ to: '/approvals', search: next, replace: true })
      : navigate({ to: '/approvals/$callId', params: { callId }, search: next, replace: true }));
  const isGone = chosen !== undefined && query.isSuccess && !query.isFetching && !calls.some(({ id }) => id === chosen);
  const index = shown.findIndex(({ id }) => id === chosen);
  const call = shown[Math.max(0, index)];
  const step = (by: number) => show(shown[Math.min(shown.length - 1, Math.max(0, Math.max(0, index) + by))]?.id);
  useNextAfterAnswer(isGone ? chosen : undefined, index, (at) => show((shown[at] ?? shown.at(-1))?.id));
  useKeys([
    ['j', () => step(1)],
    ['ArrowDown', () => step(1)],
    ['k', () => step(-1)],
    ['ArrowUp', () => step(-1)],
    ['x', () => call && select([call], !selected.has(call.id))],
  ]);

  return (
    <div>
      <PageHead title="Approvals">
        <NoticesButton />
      </PageHead>
      <KeyHints />
      {query.isPending && <LoadingRows />}
      {query.isError && (
        <Box mb="md">
          <ErrorState error={query.error} onRetry={() => void query.refetch()} />
        </Box>
      )}
      {isGone && <Answered callId={chosen} />}
      {query.isSuccess && calls.length === 0 && selected.size === 0 && (
        <EmptyState icon={IconChecklist} title="Nothing waits for you">
          A call that needs a person appears here by itself. Which calls do is set by the posture of their session.
        </EmptyState>
      )}
      {(calls.length > 0 || selected.size > 0) && <InboxTools search={search} onChange={(next) => show(chosen, next)} />}
      {hasMore && (
        <Alert mb="md" color="gray">
          {sorted === 'risk'
            ? `The ${MOST_WAITING.toLocaleString()} with the highest risk are shown; others follow when these are decided.`
            : `The newest ${MOST_WAITING.toLocaleString()} are shown; older ones follow when these are decided.`}
        </Alert>
      )}
      {calls.length > 0 && shown.length === 0 && (
        <EmptyState icon={IconFilterOff} title="No call fits this filter">
          {calls.length.toLocaleString()} others wait.
        </EmptyState>
      )}
      {(call !== undefined || selected.size > 0) && (
        <Grid gap="md">
          <Grid.Col span={{ base: 12, sm: 5, md: 4 }}>
            <Inbox groups={groups} current={call?.id} selected={selected} onChoose={show} onSelect={select} onHold={setHeld} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, sm: 7, md: 8 }}>
            {selected.size > 0 ? (
              <BulkDecision calls={[...selected.values()]} waiting={calls} onClear={selectNone} />
            ) : (
              call && <DecisionCard key={call.id} call={call} about={<CallLink call={call} />} onEdited={() => step(1)} />
            )}
          </Grid.Col>
        </Grid>
      )}
      <Outcomes />
    </div>
  );
}

/** Shows the next call in the list after the shown one has been answered here. */
function useNextAfterAnswer(gone: string | undefined, index: number, onNext: (index: number) => void): void {
  const held = usePendingDecisions();
  const last = useRef(0);
  useEffect(() => {
    if (index >= 0) last.current = index;
  }, [index]);
  const isAnsweredHere = held.outcomes.some(({ answer, state }) => answer.call.id === gone && state === 'taken');
  useEffect(() => {
    if (isAnsweredHere) onNext(last.current);
  }, [isAnsweredHere]);
}

function KeyHints() {
  return (
    <Text size="sm" c="dimmed" mb="md" visibleFrom="sm">
      <Kbd size="xs">j</Kbd> <Kbd size="xs">k</Kbd> next and previous · <Kbd size="xs">a</Kbd> allow once · <Kbd size="xs">d</Kbd> deny,
      twice: at once · <Kbd size="xs">z</Kbd> undo · <Kbd size="xs">x</Kbd> select · <Kbd size="xs">e</Kbd> edit · <Kbd size="xs">1</Kbd>–
      <Kbd size="xs">6</Kbd> twice: trust for the session
    </Text>
  );
}

/** A call of the address that no longer waits: how it was answered, and by whom. */
function Answered({ callId }: { readonly callId: string }) {
  const { client } = useToolyard();
  const { data } = useQuery({ queryKey: ['answered', callId], queryFn: ({ signal }) => client.calls.get(callId, { signal }) });
  const decided = data?.approval?.decided;
  return (
    <Alert mb="md" color="gray" role="status" data-answered={callId}>
      {decided === undefined
        ? 'The call of this link does not wait for an answer.'
        : `${decided.decision === 'allow' ? 'Allowed' : 'Denied'} by ${actorText(decided.by, decided.byName)}.`}{' '}
      <LinkAnchor size="sm" underline="always" to="/calls/$callId" params={{ callId }}>
        Open the call
      </LinkAnchor>
    </Alert>
  );
}

/** The tool, as a link to the page of the call. */
function CallLink({ call }: { readonly call: Call }) {
  return (
    <LinkAnchor size="sm" underline="always" to="/calls/$callId" params={{ callId: call.id }}>
      {call.tool}
    </LinkAnchor>
  );
}
