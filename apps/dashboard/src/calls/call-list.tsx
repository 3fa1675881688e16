import { ActionIcon, Box, Button, Text, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconArrowDown, IconArrowUp, IconLayoutSidebarRight } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useState, type RefObject } from 'react';
import { errorText, escapeInvisible, markedText, subjectText } from '#subject';
import { countText } from '../components/count-text.js';
import { RiskBadge } from '../components/risk-badge.js';
import { isShort, StateBadge } from '../components/state-badge.js';
import { Ago, Duration, Since } from '../components/time.js';
import { ScheduleName } from '../components/schedule-name.js';
import { useSubjects } from '../components/use-subjects.js';
import { useRowKeys } from '../components/use-row-keys.js';
import { durationText } from '../components/duration.js';
import classes from './call-list.module.css';
import { byNewest, shownState, type CallRow } from './call-row.js';
import type { CallSearch } from './call-search.js';
import type { FoldedRow } from './folded-runs.js';
import { columnWidths, shownColumns, type CallListView, type Column } from './call-view-search.js';

const ROW_PX = 44;
const CARD_PX = 98;

interface CallListProps {
  readonly rows: readonly FoldedRow[];
  /** Called when the end of the list becomes visible, and when the rows change while it is. */
  readonly onEnd: () => void;
  /** Called when a person moves the list. */
  readonly onScroll: () => void;
  readonly foot?: React.ReactNode;
  readonly view: CallListView;
  readonly onView: (view: CallListView) => void;
  /** Called with the filter for the value of a cell. */
  readonly onFilter: (filter: CallSearch) => void;
}

/**
 * Calls as a table that renders only visible rows. While the list is scrolled down, new calls are added above the view
 * without moving the rows.
 */
export function CallList({ rows, onEnd, onScroll, foot, view, onView, onFilter }: CallListProps) {
  const narrow = useMediaQuery('(max-width: 48em)') ?? false;
  const scroller = useRowKeys<HTMLDivElement>();
  const [anchor, setAnchor] = useState<string>();
  const shown =
    anchor === undefined || view.sort !== undefined ? rows : rows.slice(rows.findIndex((row) => byNewest({ id: anchor }, row) <= 0));
  const above = rows.length - shown.length;
  const columns = shownColumns(view);
  const peek = (callId: string) => onView({ ...view, peek: callId });
  usePeekKeys(scroller, view.peek, peek);

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
    if (shown.length > 0 && lastSeen >= shown.length - 1) onEnd();
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
        style={widthsOf(columns)}
        onScroll={({ currentTarget: { scrollTop } }) => {
          if (scrollTop <= ROW_PX / 2) setAnchor(undefined);
          else setAnchor((known) => known ?? rows[0]?.id);
          onScroll();
        }}
      >
        <div className={classes.head} role="row" aria-rowindex={1}>
          {columns.map((name) => (
            <Head key={name} name={name} view={view} onView={onView} />
          ))}
        </div>
        <div role="rowgroup" style={{ height: virtualizer.getTotalSize(), position: 'relative' }}>
          {items.map(({ index, start, key, size }) => {
            const row = shown[index];
            return (
              row && (
                <Row
                  key={key}
                  row={row}
                  index={index}
                  columns={columns}
                  isPeeked={row.id === view.peek}
                  onPeek={peek}
                  onFilter={onFilter}
                  style={{ transform: `translateY(${start}px)`, height: size }}
                />
              )
            );
          })}
        </div>
        {foot !== undefined && (
          <Text size="xs" c="dimmed" ta="center" p="sm" component="div">
            {foot}
          </Text>
        )}
      </div>
    </Box>
  );
}

function widthsOf(columns: readonly Column[]): Record<`--${string}`, string> {
  return { '--columns': columnWidths(columns), '--columns-width': columns.length > 5 ? '920px' : '560px' };
}

/** Space on the link of a row shows its call beside the list; while one is shown there, it is that of the row with the focus. */
function usePeekKeys(list: RefObject<HTMLElement | null>, peeked: string | undefined, peek: (callId: string) => void): void {
  useEffect(() => {
    const { current } = list;
    const onKey = (event: KeyboardEvent) => {
      const callId = event.target instanceof HTMLAnchorElement ? callOf(event.target) : undefined;
      if (event.key !== ' ' || callId === undefined) return;
      event.preventDefault();
      peek(callId);
    };
    const onFocus = ({ target }: FocusEvent) => {
      const callId = callOf(target);
      if (peeked !== undefined && callId !== undefined && callId !== peeked) peek(callId);
    };
    current?.addEventListener('keydown', onKey);
    current?.addEventListener('focusin', onFocus);
    return () => {
      current?.removeEventListener('keydown', onKey);
      current?.removeEventListener('focusin', onFocus);
    };
  });
}

function callOf(target: EventTarget | null): string | undefined {
  return target instanceof Element ? target.closest<HTMLElement>('[data-call]')?.dataset['call'] : undefined;
}

/** Sort orders of a column by click, beginning with the one after the present order. */
const SORTS: Readonly<Partial<Record<Column, readonly CallListView['sort'][]>>> = {
  Risk: ['risk'],
  'Run time': ['longest', 'shortest'],
  Submitted: [undefined],
};

interface HeadProps {
  readonly name: Column;
  readonly view: CallListView;
  readonly onView: (view: CallListView) => void;
}

function Head({ name, view: { sort, ...others }, onView }: HeadProps) {
  const sorts = SORTS[name];
  const cell = { role: 'columnheader', className: classes.cell, 'data-column': name } as const;
  if (sorts === undefined) return <div {...cell}>{name}</div>;
  const isSorted = sorts.includes(sort);
  const isUp = isSorted && sort === 'shortest';
  const next = sorts[(sorts.indexOf(sort) + 1) % sorts.length];
  return (
    <div {...cell} aria-sort={isUp ? 'ascending' : isSorted ? 'descending' : 'none'}>
      <UnstyledButton className={classes.sort ?? ''} onClick={() => onView({ ...others, ...(next && { sort: next }) })}>
        {name}
        {isSorted && (isUp ? <IconArrowUp size={12} aria-hidden /> : <IconArrowDown size={12} aria-hidden />)}
      </UnstyledButton>
    </div>
  );
}

interface RowProps extends Pick<CallListProps, 'onFilter'> {
  readonly row: FoldedRow;
  readonly index: number;
  readonly columns: readonly Column[];
  readonly isPeeked: boolean;
  readonly onPeek: (callId: string) => void;
  readonly style: React.CSSProperties;
}

function Row({ row, index, columns, isPeeked, onPeek, onFilter, style }: RowProps) {
  const cell = (name: Column, children: React.ReactNode, title?: string) =>
    columns.includes(name) && (
      <div role="cell" className={classes.cell} data-column={name} {...(title === undefined ? {} : { title })}>
        {children}
      </div>
    );
  const state = shownState(row);
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={classes.row}
      style={style}
      data-row
      data-call={row.id}
      data-state={state}
      {...(isPeeked ? { 'data-peeked': true } : {})}
    >
      {cell(
        'State',
        <Filtering filter={row.outcome === undefined ? { status: row.status } : { outcome: row.outcome }} onFilter={onFilter}>
          <StateBadge state={state} note={row.note} />
        </Filtering>,
      )}
      {cell(
        'Tool',
        <Filtering filter={{ tool: row.tool }} onFilter={onFilter}>
          {row.tool}
        </Filtering>,
      )}
      {cell(
        'Subject',
        <>
          <Subject row={row} />
          <ActionIcon
            className={classes.peek ?? ''}
            variant="default"
            size="sm"
            tabIndex={-1}
            visibleFrom="md"
            aria-label={`Show ${row.id} beside the list`}
            onClick={() => onPeek(row.id)}
          >
            <IconLayoutSidebarRight size={14} aria-hidden />
          </ActionIcon>
        </>,
        row.preview,
      )}
      {cell(
        'Agent',
        row.agentId !== undefined ? (
          <Filtering filter={{ agentId: row.agentId }} onFilter={onFilter}>
            {row.agentId}
          </Filtering>
        ) : (
          row.scheduleId !== undefined && (
            <Filtering filter={{ scheduleId: row.scheduleId }} onFilter={onFilter}>
              <ScheduleName id={row.scheduleId} />
            </Filtering>
          )
        ),
        row.agentId ?? row.scheduleId,
      )}
      {cell(
        'Session',
        row.sessionId !== undefined && (
          <Link to="/sessions/$sessionId" params={{ sessionId: row.sessionId }} className={classes.inner}>
            {row.sessionId}
          </Link>
        ),
        row.sessionId,
      )}
      {cell('Risk', <RiskBadge risk={row.risk} short />)}
      {cell('Run time', <RunTime row={row} />, waitText(row))}
      {cell(
        'Submitted',
        <>
          <Ago at={row.submittedAt} />
          {row.earlierRuns !== undefined && row.scheduleId !== undefined && (
            <span className={classes.below}>
              <Filtering filter={{ scheduleId: row.scheduleId }} onFilter={onFilter}>
                {countText(row.earlierRuns, 'earlier run')}
              </Filtering>
            </span>
          )}
        </>,
      )}
    </div>
  );
}

interface FilteringProps extends Pick<CallListProps, 'onFilter'> {
  readonly filter: CallSearch;
  readonly children: React.ReactNode;
}

/** A value that narrows the list when it is clicked; by keyboard the filters above the list do the same. */
function Filtering({ filter, onFilter, children }: FilteringProps) {
  return (
    <UnstyledButton className={classes.filtering ?? ''} tabIndex={-1} title="Show only these" onClick={() => onFilter(filter)}>
      {children}
    </UnstyledButton>
  );
}

/** The subject of the call; below it the attempt, if it is not the first, and the error. */
function Subject({ row }: { readonly row: CallRow }) {
  const subjects = useSubjects(row.tool);
  const attempt = row.attempt > 1 ? `attempt ${row.attempt}` : '';
  // A short note is in the badge.
  const note = isShort(row.note) ? '' : (row.note ?? '');
  const error = row.error === undefined ? note : errorText(row.error);
  const subject = markedText(subjectText(row.preview ?? '', subjects));
  return (
    <>
      <Link to="/calls/$callId" params={{ callId: row.id }} className={classes.link} data-open aria-label={`Call ${row.tool} ${subject}`}>
        <code className={classes.preview}>{subject}</code>
      </Link>
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
