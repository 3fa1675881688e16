import { memo, type CSSProperties } from 'react';
import { clockText } from '../../components/duration.js';
import type { SpanStyle } from './ansi.js';
import { markFound } from './find-lines.js';
import classes from './log.module.css';
import type { Line } from './terminal-text.js';

interface LogRowProps {
  /** Line number in the whole output, from 1; undefined if unknown. */
  readonly number: number | undefined;
  readonly line: Line;
  readonly find: string;
  readonly time: number | undefined;
  /** Other lines have no address. */
  readonly onLink: ((line: number) => void) | undefined;
}

/** A line with its number. The number is not part of the text: it is not copied with it. */
export const LogRow = memo(function LogRow({ number, line, find, time, onLink }: LogRowProps) {
  return (
    <>
      {onLink === undefined || number === undefined ? (
        <span className={classes.number} data-line={number} />
      ) : (
        <a
          className={classes.number}
          href={`#L${number}`}
          aria-label={`Line ${number}`}
          data-line={number}
          tabIndex={-1}
          onClick={(event) => {
            event.preventDefault();
            onLink(number);
          }}
        />
      )}
      {time !== undefined && <span className={classes.time} data-time={clockText(time)} />}
      <span className={classes.text}>
        {line.length === 0
          ? '\u200b'
          : markFound(line, find).map(({ text, style, found }, index) => <Piece key={index} {...{ text, style, found }} />)}
      </span>
    </>
  );
});

function Piece({ text, style, found }: { readonly text: string; readonly style: SpanStyle; readonly found: true | undefined }) {
  return found ? <mark className={classes.found}>{text}</mark> : <span style={cssOf(style)}>{text}</span>;
}

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
