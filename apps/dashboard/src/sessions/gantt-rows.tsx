import { Badge, Text, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight, IconMessage } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { actorText, escapeInvisible, subjectText } from '#subject';
import { statesText } from '../calls/call-labels.js';
import { shownState, type CallRow } from '../calls/call-row.js';
import { durationText, momentText } from '../components/duration.js';
import { StateBadge } from '../components/state-badge.js';
import { STATES } from '../components/theme.js';
import type { useSubjectsOf } from '../components/use-subjects.js';
import classes from './gantt.module.css';
import type { SessionRow, TimelineMessage } from './session-rows.js';
import type { Branch } from '../calls/session-tree.js';
import type { TimeScale } from '../calls/time-scale.js';

/** Bars that end after this share of the width have no room for a text behind them. */
const BEFORE_FROM = 0.85;

declare module 'react' {
  interface CSSProperties {
    /** The depth of a row in the tree; the stylesheet has the indent. */
    '--depth'?: number;
    /** Share of the width that the names of a session's calls have. */
    '--share'?: number;
  }
}

export type SubjectsOf = ReturnType<typeof useSubjectsOf>;

interface InTime {
  readonly now: number;
  readonly place: TimeScale['place'];
}

interface CallRowViewProps extends InTime {
  readonly branch: Branch;
  readonly sessionId: string;
  readonly subjectsOf: SubjectsOf;
}

/** Row of a call: its state, tool and subject, and its bar. The whole row is the link that shows it beside the list. */
export function CallRowView({ branch: { row, depth }, sessionId, now, place, subjectsOf }: CallRowViewProps) {
  return (
    <>
      <span className={classes.name} style={{ '--depth': depth }}>
        <StateBadge size="xs" state={shownState(row)} note={row.note} />
        <Link
          to="/sessions/$sessionId"
          params={{ sessionId }}
          search={(before) => ({ ...before, call: row.id })}
          replace
          preload={false}
          resetScroll={false}
          className={classes.link}
          title={subjectOf(row, subjectsOf)}
          data-open
        >
          {row.tool}
        </Link>
        <code className={classes.subject}>{subjectOf(row, subjectsOf)}</code>
      </span>
      <span className={classes.track}>
        <Bar row={row} now={now} place={place} />
      </span>
    </>
  );
}

/** The same while the list is dragged along: without the link and the badge, which take longer than a frame for a screen of rows. */
export function PassingCallView({ branch: { row, depth }, now, place, subjectsOf }: Omit<CallRowViewProps, 'sessionId'>) {
  return (
    <>
      <span className={classes.name} style={{ '--depth': depth }}>
        <span className={classes.passing}>{STATES[shownState(row)].label}</span>
        <span className={classes.link}>{row.tool}</span>
        <code className={classes.subject}>{subjectOf(row, subjectsOf)}</code>
      </span>
      <span className={classes.track}>
        <Bar row={row} now={now} place={place} />
      </span>
    </>
  );
}

function subjectOf(row: CallRow, subjectsOf: SubjectsOf): string {
  return escapeInvisible(subjectText(row.preview === 'null' ? '' : (row.preview ?? ''), subjectsOf(row.tool)));
}

interface BatchRowViewProps extends InTime {
  readonly row: Extract<SessionRow, { kind: 'batch' }>;
  readonly onFold: (batchId: string, isFolded: boolean) => void;
}

/** The calls of one model turn as one row, which folds them. */
export function BatchRowView({ row: { batchId, calls, isFolded }, now, place, onFold }: BatchRowViewProps) {
  const from = Math.min(...calls.map(({ submittedAt }) => submittedAt));
  const to = Math.max(...calls.map((call) => endOf(call, now)));
  const Icon = isFolded ? IconChevronRight : IconChevronDown;
  return (
    <>
      <UnstyledButton className={classes.fold} aria-expanded={!isFolded} onClick={() => onFold(batchId, !isFolded)} data-open>
        <Icon size={14} className={classes.chevron} aria-hidden />
        <span>Batch of {calls.length}</span>
        <span className={classes.states}>{statesText(calls)}</span>
      </UnstyledButton>
      <span className={classes.track}>
        <span className={classes.span} style={{ left: percent(place(from)), right: percent(1 - place(to)) }} />
      </span>
    </>
  );
}

/** Message of a person to the session, at its time. */
export function MessageRowView({ message, place }: { readonly message: TimelineMessage; readonly place: TimeScale['place'] }) {
  const text = escapeInvisible(message.message);
  return (
    <>
      <span className={classes.name} style={{ '--depth': 0 }}>
        <IconMessage size={14} className={classes.said} aria-hidden />
        <Text
          span
          size="xs"
          className={classes.message}
          title={`${actorText(message.from, message.fromName)}, ${momentText(Date.parse(message.at))}: ${text}`}
        >
          <strong>{actorText(message.from, message.fromName)}:</strong> {text}
        </Text>
        <Badge size="xs" variant="default" tt="none" miw="max-content">
          {message.taken ? 'taken' : 'waits'}
        </Badge>
      </span>
      <span className={classes.track}>
        <span className={classes.pin} style={{ left: percent(place(Date.parse(message.at))) }} />
      </span>
    </>
  );
}

/** Duration of a call, or its age. Placed before a bar at the right edge, and on a full-width one. */
function Took({ ms, from, to }: { readonly ms: number; readonly from: number; readonly to: number }) {
  const place = to < BEFORE_FROM ? { left: percent(to) } : { right: from < 1 - BEFORE_FROM ? 0 : percent(1 - from) };
  return (
    <span className={classes.took} style={place}>
      {durationText(ms)}
    </span>
  );
}

export function endOf(row: CallRow, now: number): number {
  return row.endedAt ?? (row.status === 'ended' ? row.submittedAt : now);
}

function Bar({ row, now, place }: InTime & { readonly row: CallRow }) {
  const end = endOf(row, now);
  const isWaiting = row.startedAt === undefined && row.status !== 'ended';
  const started = row.startedAt ?? end;
  const { color } = STATES[shownState(row)];
  const waited = durationText(started - row.submittedAt);
  const label = isWaiting ? `has waited ${waited}` : `waited ${waited}, ran ${durationText(end - started)}`;
  const [submittedAt, startedAt, endedAt] = [place(row.submittedAt), place(started), place(end)];
  return (
    <span className={classes.bars} role="img" aria-label={label} title={label}>
      <span className={classes.wait} style={{ left: percent(submittedAt), right: percent(1 - startedAt) }} />
      <span
        className={classes.run}
        style={{ left: percent(startedAt), right: percent(1 - endedAt), background: `var(--mantine-color-${color}-6)` }}
        data-open={row.status === 'running' || undefined}
      />
      <Took ms={isWaiting ? end - row.submittedAt : end - started} from={submittedAt} to={endedAt} />
    </span>
  );
}

function percent(share: number): string {
  return `${100 * share}%`;
}
