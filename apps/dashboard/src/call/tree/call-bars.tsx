import { ActionIcon, Button } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import type { CallSummary } from '#contracts';
import { CallLine } from '../../calls/call-line.js';
import { rowOfSummary, shownState, type CallRow } from '../../calls/call-row.js';
import { durationText } from '../../components/duration.js';
import { STATES } from '../../components/theme.js';
import { useNow } from '../../components/time.js';
import { useRowKeys } from '../../components/use-row-keys.js';
import { treeOf } from '../../calls/session-tree.js';
import { timeScale, type TimeScale } from '../../calls/time-scale.js';
import classes from './call-bars.module.css';
import { visibleBranches } from './visible-branches.js';

const FIRST_ROWS = 200;

interface CallBarsProps {
  readonly calls: readonly CallSummary[];
  /** The call whose page this is. */
  readonly here: string;
  readonly label: string;
}

/** Calls as a tree that folds, each with its bar on one time scale for all. */
export function CallBars({ calls, here, label }: CallBarsProps) {
  const now = useNow();
  const list = useRowKeys<HTMLUListElement>();
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [most, setMost] = useState(FIRST_ROWS);
  const byId = useMemo(() => new Map(calls.map((call) => [call.id, call])), [calls]);
  const branches = useMemo(() => treeOf(calls.map(rowOfSummary)), [calls]);
  const shown = useMemo(() => visibleBranches(branches, toggled, here), [branches, toggled, here]);
  // Only calls in progress move the scale.
  const until = branches.some(({ row }) => row.endedAt === undefined) ? now : 0;
  const scale = useMemo(() => timeScale(branches.map(({ row }) => ({ from: row.submittedAt, to: endOf(row, until) }))), [branches, until]);
  const toggle = (id: string) =>
    setToggled((before) => new Set(before.has(id) ? [...before].filter((other) => other !== id) : [...before, id]));
  return (
    <>
      <ul className={classes.tree} aria-label={label} ref={list}>
        {shown.slice(0, most).map(({ row, depth, below, isFolded }) => {
          const call = byId.get(row.id);
          return (
            call && (
              <li
                key={row.id}
                className={classes.branch}
                style={{ '--depth': depth }}
                data-depth={depth}
                data-here={row.id === here || undefined}
              >
                <span className={classes.name}>
                  <span className={classes.fold}>
                    {below > 0 && (
                      <ActionIcon
                        size={24}
                        variant="subtle"
                        color="gray"
                        aria-expanded={!isFolded}
                        aria-label={`${below} ${below === 1 ? 'call' : 'calls'} below ${row.tool}`}
                        onClick={() => toggle(row.id)}
                      >
                        {isFolded ? <IconChevronRight size={15} aria-hidden /> : <IconChevronDown size={15} aria-hidden />}
                      </ActionIcon>
                    )}
                  </span>
                  <CallLine call={call} here={row.id === here} />
                  {isFolded && <span className={classes.count}>+{below}</span>}
                </span>
                <Bar row={row} scale={scale} until={until} />
              </li>
            )
          );
        })}
      </ul>
      {shown.length > most && (
        <Button size="xs" variant="default" mt="xs" onClick={() => setMost(Number.POSITIVE_INFINITY)}>
          Show all {shown.length.toLocaleString()} rows
        </Button>
      )}
    </>
  );
}

function endOf(row: CallRow, until: number): number {
  return Math.max(row.submittedAt, row.endedAt ?? until);
}

/** Waiting and run time of the call, as shares of the time of all. */
function Bar({ row, scale, until }: { readonly row: CallRow; readonly scale: TimeScale; readonly until: number }) {
  const started = row.startedAt ?? endOf(row, until);
  const [from, begin, to] = [row.submittedAt, started, endOf(row, until)].map(scale.place);
  const { color, label } = STATES[shownState(row)];
  const words = `${label}: waited ${durationText(started - row.submittedAt)}, ran ${durationText(endOf(row, until) - started)}`;
  return (
    <span className={classes.track} role="img" aria-label={words} title={words}>
      <span className={classes.wait} style={{ left: percent(from), width: percent((begin ?? 0) - (from ?? 0)) }} />
      <span
        className={classes.run}
        style={{ left: percent(begin), width: percent((to ?? 0) - (begin ?? 0)), background: `var(--mantine-color-${color}-6)` }}
      />
    </span>
  );
}

function percent(share = 0): string {
  return `${(100 * share).toFixed(3)}%`;
}
