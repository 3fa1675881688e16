import { Button, Group } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useDeferredValue, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { findLines, firstError } from './find-lines.js';
import { LogRow } from './log-row.js';
import { LogToolbar } from './log-toolbar.js';
import classes from './log.module.css';
import type { Lines } from './terminal-text.js';

declare module 'react' {
  interface CSSProperties {
    /** Digits of the longest line number. */
    '--digits'?: number;
  }
}

const LINE_PX = 19;

interface LogViewProps {
  readonly lines: Lines;
  /** Changes whenever the lines do. */
  readonly version?: number;
  readonly label: string;
  /** Number of hidden lines before these. */
  readonly dropped?: number;
  /** False where lines are missing in between, so that no line has a number that is true. */
  readonly isNumbered?: boolean;
  /** The output continues: the view follows its end until the user scrolls up. */
  readonly live?: boolean;
  /** Opens a failed program's log at the end, which usually has the reason. */
  readonly atEnd?: boolean;
  /** The line that the address names, and what puts another one there. */
  readonly linked?: { readonly line: number | undefined; readonly onLink: (line: number) => void };
  /** Called with whether a text is looked for. */
  readonly onFind?: (isFinding: boolean) => void;
  /** State of other lines of the output that are being loaded, or are missing. */
  readonly rest?: 'loading' | 'missing' | undefined;
  /** Further actions for the log. */
  readonly actions?: ReactNode;
  /** Note about missing lines. */
  readonly note?: ReactNode;
}

/** A log with terminal colours, of up to a million lines; renders only visible ones. */
export function LogView(props: LogViewProps) {
  const { lines, version, label, dropped = 0, isNumbered = true, live = false, atEnd = false, linked, onFind, rest, actions, note } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(linked?.line === undefined);
  const [find, setFind] = useState('');
  const [current, setCurrent] = useState(0);
  const [wraps, setWraps] = useState(true);
  const [hasTimes, setHasTimes] = useState(false);
  const wanted = useDeferredValue(find);
  const found = useMemo(() => findLines(lines, wanted), [lines, version, wanted]);
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: 30,
  });
  const show = (index: number) => {
    setFollowing(false);
    virtualizer.scrollToIndex(index, { align: 'center' });
  };
  const top = useRef(0);
  const toEnd = () => virtualizer.scrollToIndex(lines.length - 1, { align: 'end' });
  // The height too: lines that wrap are measured after they are shown.
  const height = virtualizer.getTotalSize();
  useEffect(() => {
    if ((live || atEnd) && following) toEnd();
  }, [lines, version, live, atEnd, following, height]);
  // Once, where the log begins to be shown: later moves are the reader's.
  useEffect(() => {
    if (linked?.line !== undefined && isNumbered) show(Math.max(0, linked.line - dropped - 1));
  }, [lines, isNumbered]);
  useEffect(() => virtualizer.measure(), [wraps, virtualizer]);
  const isFound = found.length > 0;
  useEffect(() => {
    setCurrent(0);
    const [first] = found;
    if (first !== undefined) show(first);
  }, [lines, wanted, isFound]);
  const step = (by: number) => {
    const next = (current + by + found.length) % found.length;
    setCurrent(next);
    const index = found[next];
    if (index !== undefined) show(index);
  };

  return (
    <div className={classes.frame}>
      <LogToolbar
        lines={lines}
        label={label}
        find={find}
        onFind={(text) => {
          setFind(text);
          onFind?.(text !== '');
        }}
        found={found.length}
        current={current}
        rest={rest}
        onStep={step}
        wraps={wraps}
        onWrap={setWraps}
        hasTimes={hasTimes}
        onTimes={lines.time(0) === undefined ? undefined : setHasTimes}
        onEnd={() => {
          setFollowing(true);
          toEnd();
        }}
        onFirstError={() => {
          const index = firstError(lines);
          if (index !== undefined) show(index);
          return index !== undefined;
        }}
      >
        {actions}
      </LogToolbar>
      <div className={classes.note}>{note}</div>
      <div
        ref={scroller}
        className={classes.screen}
        role="log"
        aria-label={label}
        aria-live="off"
        tabIndex={0}
        data-wraps={wraps || undefined}
        style={{ '--digits': Math.max(2, String(dropped + lines.length).length) }}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          const isAtEnd = scrollHeight - scrollTop - clientHeight < LINE_PX * 2;
          // Lines that are loaded or measured move the end away; only a reader moves up.
          if (isAtEnd || scrollTop < top.current) setFollowing(isAtEnd);
          top.current = scrollTop;
        }}
      >
        <div className={classes.lines} style={{ height }}>
          {virtualizer.getVirtualItems().map(({ index, start, key }) => (
            <div
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              data-linked={(isNumbered && dropped + index + 1 === linked?.line) || undefined}
              data-found={found[current] === index || undefined}
              data-stderr={lines.isStderr(index) || undefined}
              title={lines.isStderr(index) ? 'standard error' : undefined}
              className={classes.line}
              style={{ transform: `translateY(${start}px)` }}
            >
              <LogRow
                number={isNumbered ? dropped + index + 1 : undefined}
                line={lines.line(index)}
                find={wanted}
                time={hasTimes ? lines.time(index) : undefined}
                onLink={linked?.onLink}
              />
            </div>
          ))}
        </div>
      </div>
      {live && !following && (
        <Group justify="center" className={classes.follow}>
          <Button size="compact-xs" radius="xl" onClick={() => setFollowing(true)}>
            Follow the output
          </Button>
        </Group>
      )}
    </div>
  );
}
