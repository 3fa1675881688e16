import { Text, Tooltip } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { shownState, type CallRow } from '../calls/call-row.js';
import { clockText, durationText } from '../components/duration.js';
import { StateBadge } from '../components/state-badge.js';
import { useNow } from '../components/time.js';
import { STATES } from '../components/theme.js';
import classes from './gantt.module.css';
import type { Branch } from './session-tree.js';
import { timeScale } from './time-scale.js';

const ROW_PX = 30;

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
                  </span>
                  <span className={classes.track}>
                    <Bar row={branch.row} now={now} share={share} />
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

function endOf(row: CallRow, now: number): number {
  return row.endedAt ?? (row.status === 'ended' ? row.submittedAt : now);
}

function Bar({ row, now, share }: { readonly row: CallRow; readonly now: number; readonly share: (at: number) => string }) {
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
      </span>
    </Tooltip>
  );
}
