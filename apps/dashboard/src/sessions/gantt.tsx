import { Text, Tooltip } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { escapeInvisible, subjectText } from '#subject';
import { shownState, type CallRow } from '../calls/call-row.js';
import { clockText, durationText } from '../components/duration.js';
import { StateBadge } from '../components/state-badge.js';
import { useNow } from '../components/time.js';
import { useSubjects } from '../components/use-subjects.js';
import { STATES } from '../components/theme.js';
import classes from './gantt.module.css';
import type { Branch } from './session-tree.js';
import { timeScale } from './time-scale.js';

const ROW_PX = 30;
/** Bars that end after this share of the width have no room for a text behind them. */
const BEFORE_FROM = 0.85;

declare module 'react' {
  interface CSSProperties {
    /** The depth of a row in the tree; the stylesheet has the indent. */
    '--depth'?: number;
  }
}

/** The calls of a session as a tree, each with its waiting and running time. */
export function Gantt({ branches }: { readonly branches: readonly Branch[] }) {
  const scroller = useRef<HTMLDivElement>(null);
  const now = useNow();
  const virtualizer = useVirtualizer({
    count: branches.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 20,
  });
  const open = branches.findIndex(({ row }) => row.status === 'running');
  const start = open < 0 ? branches.length - 1 : open;
  const opened = useRef(false);
  useEffect(() => {
    if (opened.current || branches.length === 0) return;
    opened.current = true;
    virtualizer.scrollToIndex(start, { align: 'center' });
  }, [branches.length, start, virtualizer]);
  const scale = timeScale(branches.map(({ row }) => ({ from: row.submittedAt, to: endOf(row, now) })));
  const share = (at: number) => `${100 * scale.place(at)}%`;
  return (
    <div className={classes.frame}>
      <div className={classes.head} aria-hidden>
        <span style={{ paddingLeft: 12 }}>Call</span>
        <span className={classes.scale}>
          {scale.marks.map(({ at, left }) => (
            <Text key={at} span size="xs" c="dimmed" className={classes.mark} style={{ left: `${100 * left}%` }}>
              {clockText(at)}
            </Text>
          ))}
        </span>
      </div>
      <div ref={scroller} className={classes.scroller} role="list" aria-label="Calls of the session" tabIndex={0}>
        <div style={{ height: virtualizer.getTotalSize(), position: 'relative' }}>
          <div className={classes.idles}>
            {scale.idles.map(({ from, to, left, right }) => (
              <Tooltip key={from} label={`${durationText(to - from)} without a call`}>
                <span className={classes.idle} style={{ left: `${100 * left}%`, width: `${100 * (right - left)}%` }} />
              </Tooltip>
            ))}
          </div>
          {virtualizer.getVirtualItems().map(({ index, start, key }) => {
            const branch = branches[index];
            return (
              branch && (
                <div
                  key={key}
                  role="listitem"
                  className={classes.row}
                  style={{ transform: `translateY(${start}px)` }}
                  data-call={branch.row.id}
                  data-depth={branch.depth}
                >
                  <span className={classes.name} style={{ '--depth': branch.depth }}>
                    <StateBadge size="xs" state={shownState(branch.row)} note={branch.row.note} />
                    <Link to="/calls/$callId" params={{ callId: branch.row.id }} className={classes.link}>
                      {branch.row.tool}
                    </Link>
                    <Subject row={branch.row} />
                  </span>
                  <span className={classes.track}>
                    <Bar row={branch.row} now={now} share={share} place={scale.place} />
                  </span>
                </div>
              )
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Subject({ row }: { readonly row: CallRow }) {
  const subject = escapeInvisible(subjectText(row.preview === 'null' ? '' : (row.preview ?? ''), useSubjects(row.tool)));
  return (
    <code className={classes.subject} title={subject}>
      {subject}
    </code>
  );
}

/** How long a call took, or takes until now. It stands before a bar that ends at the right edge, and on one that fills the width. */
function Took({ ms, from, to }: { readonly ms: number; readonly from: number; readonly to: number }) {
  const place = to < BEFORE_FROM ? { left: `${100 * to}%` } : { right: from < 1 - BEFORE_FROM ? 0 : `${100 * (1 - from)}%` };
  return (
    <span className={classes.took} style={place}>
      {durationText(ms)}
    </span>
  );
}

function endOf(row: CallRow, now: number): number {
  return row.endedAt ?? (row.status === 'ended' ? row.submittedAt : now);
}

interface BarProps {
  readonly row: CallRow;
  readonly now: number;
  readonly share: (at: number) => string;
  readonly place: (at: number) => number;
}

function Bar({ row, now, share, place }: BarProps) {
  const end = endOf(row, now);
  const started = row.startedAt ?? end;
  const { color } = STATES[shownState(row)];
  const label = `waited ${durationText(started - row.submittedAt)}, ran ${durationText(end - started)}`;
  return (
    <Tooltip label={`${row.tool}: ${label}`}>
      <span className={classes.bars} role="img" aria-label={label}>
        <span className={classes.wait} style={{ left: share(row.submittedAt), right: `calc(100% - ${share(started)})` }} />
        <span
          className={classes.run}
          style={{ left: share(started), right: `calc(100% - ${share(end)})`, background: `var(--mantine-color-${color}-6)` }}
          data-open={row.status === 'running' || undefined}
        />
        <Took ms={end - started} from={place(row.submittedAt)} to={place(end)} />
      </span>
    </Tooltip>
  );
}
