import { Grid, Stack } from '@mantine/core';
import { IconHandStop, IconMessages } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { CallFilter } from '#contracts';
import { escapeInvisible } from '#subject';
import { CallPreview } from '../calls-page/call-preview.js';
import { CallTable } from '../calls/call-table.js';
import { ConfirmModal } from '../components/confirm-modal.js';
import { LinkButton } from '../components/links.js';
import { PageHead } from '../components/page-head.js';
import { ScopedButton } from '../components/scoped-button.js';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { notifyMessage } from '../components/notify.js';
import { useSlowFrames } from '../stream/frame-store.js';
import { useToolyard } from '../stream/toolyard.js';
import { Gantt } from './gantt.js';
import classes from './gantt.module.css';
import { MessagesCard } from './messages-card.js';
import { SessionGrantsCard } from './session-grants-card.js';
import { SessionPostureCard } from './session-posture-card.js';
import { treeOf } from '../calls/session-tree.js';
import { SessionWorkCard } from './session-work-card.js';
import { SteerCard } from './steer-card.js';
import { useSteering } from './use-steering.js';
import { countText } from '../components/count-text.js';

const route = getRouteApi('/sessions/$sessionId');
const PAGE = 200;
/** The most calls of a session that are loaded; the list of calls shows all. */
const MOST_CALLS = 5000;
const REDRAW_MS = 200;

/** Page of a session: its calls and their children over time, with steering, cancel, posture and grants. */
export function SessionPage() {
  const { sessionId } = route.useParams();
  return <OneSession key={sessionId} sessionId={sessionId} />;
}

function OneSession({ sessionId }: { readonly sessionId: string }) {
  const { client, feed } = useToolyard();
  const [stopping, setStopping] = useState(false);
  const { query, branches, underWay } = useSessionCalls(sessionId);
  const messages = useSteering(sessionId);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: typeof search) => void navigate({ search: next, replace: true, resetScroll: false });
  const session = useQuery({ queryKey: ['session', sessionId], queryFn: ({ signal }) => client.sessions.get(sessionId, { signal }) });
  const { refetch } = session;
  useEffect(
    () =>
      feed.onNotice((notice) => {
        if (notice.sessionid !== sessionId) return;
        if (notice.type === 'session.message') notifyMessage(escapeInvisible(notice.data.message));
        else void refetch();
      }),
    [feed, refetch, sessionId],
  );
  return (
    <>
      <PageHead
        title={sessionId}
        tab={`Session ${sessionId}`}
        about={`${branches.length.toLocaleString()} ${branches.length === 1 ? 'call' : 'calls'}, ${underWay.toLocaleString()} under way`}
      >
        <LinkButton to="/calls" search={{ sessionId }} size="xs" variant="default">
          As a list
        </LinkButton>
        <ScopedButton
          scope="cancel"
          size="xs"
          color="red"
          variant="light"
          leftSection={<IconHandStop size={15} aria-hidden />}
          onClick={() => setStopping(true)}
        >
          Stop all
        </ScopedButton>
      </PageHead>
      <Grid gap="md">
        <Grid.Col span={{ base: 12, lg: 8 }}>
          {query.isPending && <LoadingRows />}
          {query.isError && <ErrorState error={query.error} onRetry={() => void query.refetch()} />}
          {query.isSuccess && branches.length === 0 && (
            <EmptyState icon={IconMessages} title="No calls in this session">
              A call with <code>{`"sessionId": "${sessionId}"`}</code> appears here by itself. What is set at the side holds for it.
            </EmptyState>
          )}
          {branches.length > 0 && query.isFetched && (
            <Gantt
              sessionId={sessionId}
              branches={branches}
              messages={messages}
              shown={search.call}
              isFolded={search.batches === 'folded'}
              onFold={(isFolded) => change({ ...search, batches: isFolded ? 'folded' : undefined })}
            />
          )}
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <Stack gap="md">
            <SteerCard sessionId={sessionId} />
            <MessagesCard sessionId={sessionId} />
            {session.isError && <ErrorState error={session.error} onRetry={() => void session.refetch()} />}
            {session.data && (
              <>
                <SessionWorkCard session={session.data} />
                <SessionPostureCard session={session.data} />
                <SessionGrantsCard session={session.data} />
              </>
            )}
          </Stack>
        </Grid.Col>
      </Grid>
      {search.call !== undefined && (
        <div className={classes.drawer}>
          <CallPreview key={search.call} callId={search.call} onClose={() => change({ ...search, call: undefined })} />
        </div>
      )}
      {stopping && <StopModal sessionId={sessionId} underWay={underWay} onClose={() => setStopping(false)} />}
    </>
  );
}

function useSessionCalls(sessionId: string) {
  const { client, feed } = useToolyard();
  const table = useMemo(() => new CallTable(CallFilter.parse({ sessionId }), MOST_CALLS), [sessionId]);
  const query = useQuery({
    queryKey: ['session-calls', sessionId],
    queryFn: async ({ signal }) => {
      let loaded = 0;
      for (let cursor: string | undefined; loaded < MOST_CALLS;) {
        const page = await client.calls.list({ sessionId, limit: PAGE, cursor }, { signal });
        table.answer(page.calls);
        loaded += page.calls.length;
        cursor = page.nextCursor;
        if (cursor === undefined) break;
      }
      return loaded;
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  useEffect(() => feed.listen((events) => table.events(events.filter((event) => event.sessionid === sessionId))), [feed, table, sessionId]);
  useEffect(() => feed.onLive(() => void query.refetch()), [feed, query.refetch]);
  const version = useSlowFrames(table, REDRAW_MS);
  const rows = useMemo(() => table.list(), [table, version]);
  const branches = useMemo(() => treeOf(rows), [rows]);
  return { query, branches, underWay: rows.filter(({ status }) => status !== 'ended').length };
}

function StopModal({
  sessionId,
  underWay,
  onClose,
}: {
  readonly sessionId: string;
  readonly underWay: number;
  readonly onClose: () => void;
}) {
  const { client } = useToolyard();
  return (
    <ConfirmModal
      title="Stop everything in this session?"
      keep="Let it run"
      confirm="Stop all"
      scope="cancel"
      action={() => client.sessions.cancel(sessionId, { reason: 'stopped in the dashboard' })}
      done={({ calls, batches }) => `Stopped ${countText(calls, 'call')} and ${countText(batches, 'batch', 'batches')}`}
      failed="The session was not stopped"
      onClose={onClose}
    >
      {underWay === 0
        ? 'No call is under way; batches that have calls left are stopped.'
        : `${countText(underWay, 'call that is under way is', 'calls that are under way are')} cancelled, and batches do not go on.`}{' '}
      The agent may submit new ones.
    </ConfirmModal>
  );
}
