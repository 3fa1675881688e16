import { Box, Button, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconArrowUp } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useState } from 'react';
import { escapeInvisible, subjectText } from '#subject';
import { isShort, StateBadge } from '../components/state-badge.js';
import { Ago, Duration, Since } from '../components/time.js';
import { useSubjects } from '../components/use-subjects.js';
import { useRowKeys } from '../components/use-row-keys.js';
import { durationText } from '../components/duration.js';
import classes from './call-list.module.css';
import { byNewest, shownState, type CallRow } from './call-row.js';

const ROW_PX = 44;
const CARD_PX = 98;

interface CallListProps {
  readonly rows: readonly CallRow[];
  /** Called when the end of the list becomes visible. */
  readonly onEnd?: () => void;
  readonly foot?: string | undefined;
}

/**
 * Calls as a table that renders only visible rows. While the list is scrolled down, new calls are added above the view
 * without moving the rows.
 */
export function CallList({ rows, onEnd, foot }: CallListProps) {
  const narrow = useMediaQuery('(max-width: 48em)') ?? false;
  const scroller = useRowKeys<HTMLDivElement>();
  const [anchor, setAnchor] = useState<string>();
  const shown = anchor === undefined ? rows : rows.slice(rows.findIndex((row) => byNewest({ id: anchor }, row) <= 0));
  const above = rows.length - shown.length;

  const virtualizer = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (narrow ? CARD_PX : ROW_PX),
    overscan: 12,
    getItemKey: (index) => shown[index]?.id ?? index,
  });
  useEffect(() => virtualizer.measure(), [virtualizer, narrow]);

  const items = virtualizer.getVirtualItems();
  const lastSeen = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (shown.length > 0 && lastSeen >= shown.length - 15) onEnd?.();
  }, [lastSeen, shown.length, onEnd]);

  const toTop = () => {
    setAnchor(undefined);
    scroller.current?.scrollTo({ top: 0 });
  };

  return (
    <Box pos="relative">
      {above > 0 && (
        <div className={classes.above}>
          <Button size="compact-sm" radius="xl" leftSection={<IconArrowUp size={14} aria-hidden />} onClick={toTop}>
            {above.toLocaleString()} new
          </Button>
        </div>
      )}
      <div
        ref={scroller}
        className={classes.scroller}
        role="table"
        aria-label="Calls"
        aria-rowcount={shown.length + 1}
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop } }) => {
          if (scrollTop <= ROW_PX / 2) setAnchor(undefined);
          else setAnchor((known) => known ?? rows[0]?.id);
        }}
      >
        <div className={classes.head} role="row" aria-rowindex={1}>
          {COLUMNS.map((name) => (
            <div key={name} role="columnheader" className={classes.cell} data-column={name}>
              {name}
            </div>
          ))}
        </div>
        <div role="rowgroup" style={{ height: virtualizer.getTotalSize(), position: 'relative' }}>
          {items.map(({ index, start, key, size }) => {
            const row = shown[index];
            return row && <Row key={key} row={row} index={index} style={{ transform: `translateY(${start}px)`, height: size }} />;
          })}
        </div>
        {foot !== undefined && (
          <Text size="xs" c="dimmed" ta="center" p="sm">
            {foot}
          </Text>
        )}
      </div>
    </Box>
  );
}

const COLUMNS = ['State', 'Tool', 'Subject', 'Agent', 'Session', 'Run time', 'Submitted'] as const;

function Row({ row, index, style }: { readonly row: CallRow; readonly index: number; readonly style: React.CSSProperties }) {
  const cell = (name: (typeof COLUMNS)[number], children: React.ReactNode, title?: string) => (
    <div role="cell" className={classes.cell} data-column={name} {...(title === undefined ? {} : { title })}>
      {children}
    </div>
  );
  const state = shownState(row);
  return (
    <div role="row" aria-rowindex={index + 2} className={classes.row} style={style} data-row data-call={row.id} data-state={state}>
      {cell('State', <StateBadge state={state} note={row.note} />)}
      {cell(
        'Tool',
        <Link to="/calls/$callId" params={{ callId: row.id }} className={classes.link} aria-label={`Call ${row.tool} ${row.id}`}>
          {row.tool}
        </Link>,
      )}
      {cell('Subject', <Subject row={row} />, row.preview)}
      {cell('Agent', row.agentId ?? '', row.agentId)}
      {cell(
        'Session',
        row.sessionId !== undefined && (
          <Link to="/sessions/$sessionId" params={{ sessionId: row.sessionId }} className={classes.inner}>
            {row.sessionId}
          </Link>
        ),
        row.sessionId,
      )}
      {cell('Run time', <RunTime row={row} />, waitText(row))}
      {cell('Submitted', <Ago at={row.submittedAt} />)}
    </div>
  );
}

/** The subject of the call; below it the attempt, if it is not the first, and the error. */
function Subject({ row }: { readonly row: CallRow }) {
  const subjects = useSubjects(row.tool);
  const attempt = row.attempt > 1 ? `attempt ${row.attempt}` : '';
  // A short note is in the badge.
  const note = isShort(row.note) ? '' : (row.note ?? '');
  const error = row.error === undefined ? note : `${row.error.code}: ${row.error.message}`;
  return (
    <>
      <code className={classes.preview}>{escapeInvisible(subjectText(row.preview ?? '', subjects))}</code>
      {(attempt !== '' || error !== '') && (
        <span className={classes.below} title={error}>
          {attempt}
          {attempt !== '' && error !== '' && ' · '}
          <span className={classes.error}>{escapeInvisible(error)}</span>
        </span>
      )}
    </>
  );
}

function RunTime({ row }: { readonly row: CallRow }) {
  if (row.status === 'running' && row.startedAt !== undefined) return <Since at={row.startedAt} />;
  if (row.status === 'queued' || row.status === 'waiting_approval' || row.status === 'waiting_input')
    return (
      <span className={classes.waits}>
        waits <Since short at={row.submittedAt} />
      </span>
    );
  return <Duration ms={row.runMs} />;
}

function waitText({ waitMs, startedAt, submittedAt }: CallRow): string | undefined {
  const ms = waitMs ?? (startedAt === undefined ? undefined : startedAt - submittedAt);
  return ms === undefined ? undefined : `Started after ${durationText(Math.max(0, ms))}`;
}
