import { Group, Paper, Text, Title } from '@mantine/core';
import { escapeInvisible, subjectText } from '#subject';
import { shownState, type CallRow } from '../calls/call-row.js';
import { LinkAnchor } from '../components/links.js';
import { useUnlessPaused } from '../components/paused.js';
import { StateBadge } from '../components/state-badge.js';
import { ErrorState, LoadingRows } from '../components/states.js';
import { Ago, Duration, Since, useNow } from '../components/time.js';
import { useRowKeys } from '../components/use-row-keys.js';
import { Unbroken } from '../components/unbroken.js';
import { useSubjects } from '../components/use-subjects.js';
import { ScheduleName } from '../components/schedule-name.js';
import classes from './agent-list.module.css';
import { InlineDecision } from './inline-decision.js';
import { isShort } from './shown-whole.js';
import { LastLine } from './last-line.js';
import { workOf, type AgentWork } from './agent-work.js';
import type { RecentCalls } from './use-recent-calls.js';
import { countText } from '../components/count-text.js';

const NONE: readonly CallRow[] = [];
const SHOWN_AGENTS = 12;
const SHOWN_CALLS = 3;

/** Current work of each agent: its command, for how long, and the last line of its output. */
export function AgentList({ recent: { rows = NONE, error, retry } }: { readonly recent: RecentCalls }) {
  const now = useNow();
  const list = useRowKeys<HTMLDivElement>();
  const shown = useUnlessPaused(rows);
  const agents = workOf(shown, now);
  const asked = new Set(rows.filter(({ status }) => status === 'waiting_approval').map(({ id }) => id));
  return (
    <Paper withBorder p="sm" mb="md" component="section" aria-label="Agents">
      <Title order={2} size="h3" mb={4}>
        Agents
      </Title>
      {rows === NONE && error === null && <LoadingRows rows={2} />}
      {error !== null && <ErrorState error={error} onRetry={retry} />}
      {rows !== NONE && agents.length === 0 && (
        <Text size="sm" c="dimmed" py="xs">
          No agent is at work. The last call ended more than 10 minutes ago.
        </Text>
      )}
      <div ref={list} {...(agents.length === 0 ? {} : { role: 'list', 'aria-label': 'Agents at work' })}>
        {agents.slice(0, SHOWN_AGENTS).map((agent) => (
          <AgentRow key={agent.key} agent={agent} asked={asked} />
        ))}
      </div>
      {agents.length > SHOWN_AGENTS && (
        <LinkAnchor size="xs" underline="always" to="/sessions">
          and {agents.length - SHOWN_AGENTS} more
        </LinkAnchor>
      )}
    </Paper>
  );
}

interface AgentRowProps {
  readonly agent: AgentWork;
  /** Calls that wait for a decision now: on a paused page not all that are shown so. */
  readonly asked: ReadonlySet<string>;
}

function AgentRow({ agent: { agentId, sessionId, scheduleId, open, last }, asked }: AgentRowProps) {
  const calls = open.length === 0 ? [last] : open.slice(0, SHOWN_CALLS);
  return (
    <div role="listitem" className={classes['agent']} data-agent-row={sessionId ?? agentId ?? scheduleId ?? ''}>
      <div className={classes['who']}>
        {scheduleId === undefined ? (
          <Text size="sm" fw={600} truncate>
            {agentId ?? (sessionId === undefined ? 'Without session' : 'No agent named')}
          </Text>
        ) : (
          <LinkAnchor size="sm" fw={600} truncate display="block" to="/schedules/$scheduleId" params={{ scheduleId }}>
            <ScheduleName id={scheduleId} />
          </LinkAnchor>
        )}
        {sessionId !== undefined && (
          <LinkAnchor size="xs" truncate display="block" to="/sessions/$sessionId" params={{ sessionId }}>
            {sessionId}
          </LinkAnchor>
        )}
      </div>
      <div className={classes['calls']}>
        {calls.map((row) => (
          <AgentCall key={row.id} row={row} isStillAsked={asked.has(row.id)} />
        ))}
        {open.length > SHOWN_CALLS && (
          <LinkAnchor
            size="xs"
            underline="always"
            to="/calls"
            search={{
              status: 'queued,running,waiting_approval,waiting_input',
              ...(sessionId && { sessionId }),
              ...(scheduleId && { scheduleId }),
            }}
          >
            {countText(open.length - SHOWN_CALLS, 'more open call')}
          </LinkAnchor>
        )}
      </div>
    </div>
  );
}

/** Path or pattern, which names the object but not the action. */
function namesNoTool(subject: string): boolean {
  return subject !== '' && !subject.startsWith('$ ');
}

interface AgentCallProps {
  readonly row: CallRow;
  readonly isStillAsked: boolean;
}

function AgentCall({ row, isStillAsked }: AgentCallProps) {
  const subjects = useSubjects(row.tool);
  const subject = escapeInvisible(subjectText(row.preview ?? '', subjects));
  const isAsked = row.status === 'waiting_approval';
  const error = row.error?.message ?? row.note;
  return (
    <div data-row data-call={row.id}>
      <Group gap="xs" wrap="nowrap" className={classes['call'] ?? ''}>
        <StateBadge state={shownState(row)} note={row.note} />
        {(isAsked || namesNoTool(subject)) && (
          <Text size="sm" c="dimmed" component="span" style={{ overflowWrap: 'anywhere' }}>
            {escapeInvisible(row.tool)}
          </Text>
        )}
        <LinkAnchor
          data-open
          size="sm"
          truncate={!isAsked || !isShort(subject)}
          className={classes['subject'] ?? ''}
          to="/calls/$callId"
          params={{ callId: row.id }}
        >
          {subject === '' ? row.tool : <Unbroken text={subject} />}
        </LinkAnchor>
        <Text size="xs" c="dimmed" className={classes['time'] ?? ''} component="span">
          <Elapsed row={row} />
        </Text>
      </Group>
      {row.status === 'running' && <LastLine key={row.id} callId={row.id} />}
      {row.status === 'ended' && error !== undefined && (
        <Text size="xs" truncate className={classes['line'] ?? ''} c="var(--mantine-color-error)">
          {escapeInvisible(error)}
        </Text>
      )}
      {isAsked && !isStillAsked && (
        <Text size="xs" c="dimmed" mt={4}>
          Decided since the pause.
        </Text>
      )}
      {isAsked && isStillAsked && <InlineDecision callId={row.id} tool={row.tool} line={subject} />}
    </div>
  );
}

function Elapsed({ row }: { readonly row: CallRow }) {
  if (row.status === 'running') return <Since at={row.startedAt ?? row.submittedAt} />;
  if (row.status !== 'ended')
    return (
      <>
        for <Since short at={row.submittedAt} />
      </>
    );
  return (
    <>
      {row.runMs !== undefined && (
        <>
          <Duration ms={row.runMs} />,{' '}
        </>
      )}
      <Ago at={row.endedAt ?? row.submittedAt} />
    </>
  );
}
