import { Button, Group, Text, Tooltip } from '@mantine/core';
import { useElementSize, useLocalStorage } from '@mantine/hooks';
import { IconArrowDownToArc, IconFold } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useCallback, useEffect, useMemo, useRef, useState, type RefObject } from 'react';
import { clockText, durationText } from '../components/duration.js';
import { useNow } from '../components/time.js';
import { useRowKeys } from '../components/use-row-keys.js';
import { useSubjectsOf } from '../components/use-subjects.js';
import { Minimap } from './gantt-minimap.js';
import { BatchRowView, CallRowView, endOf, MessageRowView, PassingCallView, type SubjectsOf } from './gantt-rows.js';
import { Split } from './gantt-split.js';
import classes from './gantt.module.css';
import { markOf, sessionRows, type SessionRow, type TimelineMessage } from './session-rows.js';
import type { Branch } from '../calls/session-tree.js';
import { timeScale, type TimeScale } from '../calls/time-scale.js';

const ROW_PX = 30;
/** The width of a time label with some air. */
const MARK_PX = 84;
/** Rows outside of the view. */
const OVERSCAN = 10;

export interface GanttProps {
  readonly sessionId: string;
  readonly branches: readonly Branch[];
  readonly messages: readonly TimelineMessage[];
  /** The call that is shown beside the list. */
  readonly shown: string | undefined;
  /** Hides the calls of all batches, as the address requests; a person may open one. */
  readonly isFolded: boolean;
  readonly onFold: (isFolded: boolean) => void;
}

/** The calls of a session as a tree, each with its waiting and running time, and what people said between them. */
export function Gantt({ sessionId, branches, messages, shown, isFolded, onFold }: GanttProps) {
  const [others, setOthers] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => setOthers(new Set()), [isFolded]);
  const rows = useMemo(
    () => sessionRows(branches, messages, (batchId) => others.has(batchId) !== isFolded),
    [branches, messages, others, isFolded],
  );
  const foldOne = useCallback(
    (batchId: string) =>
      setOthers((before) => (before.has(batchId) ? new Set([...before].filter((id) => id !== batchId)) : new Set([...before, batchId]))),
    [],
  );
  const list = useRowKeys<HTMLDivElement>();
  const [isPassing, setPassing] = useState(false);
  const subjectsOf = useSubjectsOf();
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => list.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: isPassing ? 0 : OVERSCAN,
  });
  const isLive = branches.some(({ row }) => row.status !== 'ended');
  const { scrollOffset, scrollRect } = virtualizer;
  const { isFollowing, follow, release, onScroll } = useFollow(list, { rows: rows.length, height: scrollRect?.height ?? 0, isLive });
  const show = (index: number) => {
    release();
    virtualizer.scrollToIndex(index, { align: 'center' });
  };
  const { ref: track, width } = useElementSize();
  const [split, setSplit] = useLocalStorage<number | undefined>({ key: 'toolyard.session-names', defaultValue: undefined });
  const scale = useScale(branches, width);
  const total = Math.max(1, virtualizer.getTotalSize());
  const first = (scrollOffset ?? 0) / total;
  const last = ((scrollOffset ?? 0) + (scrollRect?.height ?? 0)) / total;
  return (
    <>
      <Group gap="xs" mb="xs">
        <Button
          size="compact-xs"
          variant={isFollowing ? 'light' : 'default'}
          aria-pressed={isFollowing}
          onClick={isFollowing ? release : follow}
          leftSection={<IconArrowDownToArc size={14} aria-hidden />}
        >
          Follow
        </Button>
        {rows.some(({ kind }) => kind === 'batch') && (
          <Button
            size="compact-xs"
            variant="default"
            aria-pressed={isFolded}
            onClick={() => onFold(!isFolded)}
            leftSection={<IconFold size={14} aria-hidden />}
          >
            Fold batches
          </Button>
        )}
        <Jump rows={rows} mark="failed" label="failed" onShow={show} />
        <Jump rows={rows} mark="waiting" label="waiting for a person" onShow={show} />
      </Group>
      <div className={classes.frame} {...(split === undefined ? {} : { style: { '--share': split } })}>
        <Split share={split} onShare={setSplit} />
        <div className={classes.head} aria-hidden>
          <span style={{ paddingLeft: 12 }}>Call</span>
          <span className={classes.scale} ref={track}>
            {scale.marks.map(({ at, left }) => (
              <Text key={at} span size="xs" c="dimmed" className={classes.mark} style={{ left: `${100 * left}%` }}>
                {clockText(at)}
              </Text>
            ))}
          </span>
        </div>
        <div className={classes.body}>
          <div ref={list} className={classes.scroller} role="list" aria-label="Calls of the session" tabIndex={0} onScroll={onScroll}>
            <div style={{ height: virtualizer.getTotalSize(), position: 'relative' }}>
              <div className={classes.idles}>
                {scale.idles.map(({ from, to, left, right }) => (
                  <Tooltip key={from} label={`${durationText(to - from)} without a call`}>
                    <span className={classes.idle} style={{ left: `${100 * left}%`, width: `${100 * (right - left)}%` }} />
                  </Tooltip>
                ))}
              </div>
              {virtualizer.getVirtualItems().map(({ index, start, key }) => {
                const row = rows[index];
                return (
                  row && (
                    <div
                      key={key}
                      role="listitem"
                      className={classes.row}
                      style={{ transform: `translateY(${start}px)` }}
                      data-row
                      data-shown={(row.kind === 'call' && row.branch.row.id === shown) || undefined}
                      {...attributesOf(row)}
                    >
                      <RowView
                        row={row}
                        sessionId={sessionId}
                        now={scale.now}
                        place={scale.place}
                        onFold={foldOne}
                        subjectsOf={subjectsOf}
                        isPassing={isPassing}
                      />
                    </div>
                  )
                );
              })}
            </div>
          </div>
          <Minimap rows={rows} from={first} to={last} onShow={(share) => show(Math.round(share * (rows.length - 1)))} onHold={setPassing} />
        </div>
      </div>
    </>
  );
}

function attributesOf(row: SessionRow) {
  if (row.kind === 'batch') return { 'data-batch': row.batchId };
  if (row.kind === 'message') return { 'data-said': row.message.id };
  return { 'data-call': row.branch.row.id, 'data-depth': row.branch.depth };
}

interface RowViewProps {
  readonly row: SessionRow;
  readonly sessionId: string;
  readonly now: number;
  readonly place: TimeScale['place'];
  readonly onFold: (batchId: string) => void;
  /** The list is dragged along: all rows in view are new in each frame. */
  readonly isPassing: boolean;
  readonly subjectsOf: SubjectsOf;
}

/** Rendered again only when it changes: scrolling adds a few rows and leaves the others. */
const RowView = memo(({ row, sessionId, now, place, onFold, subjectsOf, isPassing }: RowViewProps) => {
  if (row.kind === 'batch') return <BatchRowView row={row} now={now} place={place} onFold={onFold} />;
  if (row.kind === 'message') return <MessageRowView message={row.message} place={place} />;
  if (isPassing) return <PassingCallView branch={row.branch} now={now} place={place} subjectsOf={subjectsOf} />;
  return <CallRowView branch={row.branch} sessionId={sessionId} now={now} place={place} subjectsOf={subjectsOf} />;
});

/** The time scale, which moves only while a call is under way. */
function useScale(branches: readonly Branch[], width: number): TimeScale & { readonly now: number } {
  const tick = useNow();
  const isLive = useMemo(() => branches.some(({ row }) => row.endedAt === undefined && row.status !== 'ended'), [branches]);
  const now = isLive ? tick : 0;
  const distance = width > 0 ? Math.min(1, MARK_PX / width) : undefined;
  return useMemo(
    () => ({
      ...timeScale(
        branches.map(({ row }) => ({ from: row.submittedAt, to: endOf(row, now) })),
        distance,
      ),
      now,
    }),
    [branches, now, distance],
  );
}

interface FollowedList {
  readonly rows: number;
  /** Height of the list in pixels: it changes with that of the window. */
  readonly height: number;
  readonly isLive: boolean;
}

/** Follows the end of the list until a person scrolls away. */
function useFollow(list: RefObject<HTMLDivElement | null>, { rows, height, isLive }: FollowedList) {
  const [isFollowing, setFollowing] = useState(isLive);
  useEffect(() => {
    if (isFollowing) list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [rows, height, isFollowing, list]);
  return {
    isFollowing,
    follow: () => setFollowing(true),
    release: () => setFollowing(false),
    onScroll: ({ currentTarget: { scrollTop, scrollHeight, clientHeight } }: React.UIEvent<HTMLElement>) => {
      if (scrollHeight - scrollTop - clientHeight > 2 * ROW_PX) setFollowing(false);
    },
  };
}

interface JumpProps {
  readonly rows: readonly SessionRow[];
  readonly mark: NonNullable<ReturnType<typeof markOf>>;
  readonly label: string;
  readonly onShow: (index: number) => void;
}

/** How many rows are marked so; a press shows the next one, again and again. */
function Jump({ rows, mark, label, onShow }: JumpProps) {
  const marked = useMemo(() => rows.flatMap((row, index) => (row.kind !== 'batch' && markOf(row) === mark ? [index] : [])), [rows, mark]);
  const at = useRef(-1);
  if (marked.length === 0) return null;
  return (
    <Button
      size="compact-xs"
      variant="default"
      onClick={() => {
        const next = marked.find((index) => index > at.current) ?? marked[0] ?? 0;
        at.current = next;
        onShow(next);
      }}
    >
      {marked.length.toLocaleString()} {label}
    </Button>
  );
}
