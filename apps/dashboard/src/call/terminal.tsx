import { Button, Group, Text } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useRef, useState, type CSSProperties } from 'react';
import type { SpanStyle } from './ansi.js';
import classes from './terminal.module.css';
import type { Line } from './terminal-text.js';

const LINE_PX = 19;

interface TerminalProps {
  readonly lines: readonly Line[];
  readonly label: string;
  /** The number of dropped lines before these. */
  readonly dropped?: number;
  /** The output continues: the view follows its end until the user scrolls up. */
  readonly live?: boolean;
}

/** Text with terminal colours; renders only visible lines. */
export function Terminal({ lines, label, dropped = 0, live = false }: TerminalProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(true);
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: 30,
  });
  useEffect(() => {
    if (live && following && scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  }, [lines, live, following]);

  return (
    <div className={classes.frame}>
      {dropped > 0 && (
        <Text size="xs" p="xs" className={classes.note}>
          {dropped.toLocaleString()} earlier lines are not kept in the browser.
        </Text>
      )}
      <div
        ref={scroller}
        className={classes.screen}
        role="log"
        aria-label={label}
        aria-live="off"
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
          setFollowing(scrollHeight - scrollTop - clientHeight < LINE_PX * 2)
        }
      >
        <div style={{ height: virtualizer.getTotalSize(), position: 'relative' }}>
          {virtualizer.getVirtualItems().map(({ index, start, key }) => (
            <div
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              className={classes.line}
              style={{ transform: `translateY(${start}px)` }}
            >
              <Spans line={lines[index] ?? []} />
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

const Spans = memo(function Spans({ line }: { readonly line: Line }) {
  if (line.length === 0) return <>{'\u200b'}</>;
  return line.map(({ text, style }, index) => (
    <span key={index} style={cssOf(style)}>
      {text}
    </span>
  ));
});

/** Palette colours are variables of the stylesheet, readable in light and dark mode. */
function cssOf({ color, background, bold, dim, italic, underline, strike }: SpanStyle): CSSProperties {
  return {
    ...(color === undefined ? {} : { color: paint(color) }),
    ...(background === undefined ? {} : { backgroundColor: paint(background, 'on-') }),
    ...(bold ? { fontWeight: 700 } : {}),
    ...(dim ? { opacity: 0.7 } : {}),
    ...(italic ? { fontStyle: 'italic' } : {}),
    ...(underline || strike ? { textDecoration: [underline && 'underline', strike && 'line-through'].filter(Boolean).join(' ') } : {}),
  };
}

/** Backgrounds use the normal variant of a bright colour, since the text on them is light. */
function paint(color: string, place: '' | 'on-' = ''): string {
  if (color.startsWith('#')) return color;
  return `var(--ansi-${place}${place === '' ? color : plainName(color)})`;
}

function plainName(color: string): string {
  return color.startsWith('bright') ? color.slice('bright'.length).toLowerCase() : color;
}
