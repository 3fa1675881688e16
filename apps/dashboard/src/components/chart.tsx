import { Group, Paper, Text, Title, useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useMemo, useRef, type ReactNode, type RefObject } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import classes from './chart.module.css';
import { rangeOfSlots } from './slots.js';

export interface ChartLine {
  readonly label: string;
  /** Colours for light and dark mode. */
  readonly color: readonly [light: string, dark: string];
  readonly fill?: boolean;
}

export interface ChartProps {
  readonly title: string;
  /** The current values as text, for screen readers. */
  readonly summary: string;
  readonly lines: readonly ChartLine[];
  /** Seconds since 1970, then the values of each line; null draws nothing. */
  readonly data: readonly (readonly (number | null)[])[];
  /** Formats a value for the axis and the tooltip. */
  readonly format: (value: number) => string;
  readonly height?: number;
  /** Bars on top of one another, the first line at the bottom; else lines. */
  readonly stacked?: boolean;
  /** The steps are days in UTC: its dates are those of UTC. */
  readonly isUtc?: boolean;
  /** The smallest maximum of the axis, so that low values look low. */
  readonly atLeast: number;
  /** Distances that the marks of the axis may have. Absent: round numbers. */
  readonly steps?: readonly number[];
  /** Links to the lists behind the values. */
  readonly children?: ReactNode;
}

/** A chart over time. New data redraw it without rebuilding it. */
export function Chart({
  title,
  summary,
  lines,
  data,
  format,
  atLeast,
  steps,
  stacked = false,
  isUtc = false,
  height = 170,
  children,
}: ChartProps) {
  const { ref, width } = useElementSize();
  const plot = useRef<uPlot>(undefined);
  const host = useRef<HTMLDivElement>(null);
  const dark = useComputedColorScheme('light') === 'dark';
  const drawn = useMemo(() => aligned(stacked ? stackedUp(data) : data), [data, stacked]);
  const latest = useRef(drawn);
  latest.current = drawn;
  const values = useRef(data);
  values.current = data;

  useEffect(() => {
    if (host.current === null || width === 0) return undefined;
    const made = new uPlot(
      optionsOf({ lines, format, atLeast, steps, stacked, isUtc, width, height, dark, values }),
      latest.current,
      host.current,
    );
    plot.current = made;
    return () => {
      plot.current = undefined;
      made.destroy();
    };
    // Lines and format are constants of their page.
  }, [width, height, dark, lines, format, atLeast, steps, stacked, isUtc]);

  useEffect(() => plot.current?.setData(drawn), [drawn]);

  return (
    <Paper withBorder p="sm" className={classes.paper}>
      <Group justify="space-between" gap="xs" mb={4} wrap="nowrap">
        <Title order={2} size="h3">
          {title}
        </Title>
        <Group gap="sm" wrap="wrap" justify="flex-end">
          {children}
          {lines.map(({ label, color }) => (
            <Text key={label} size="xs" c="dimmed" className={classes.key}>
              <span className={classes.swatch} style={{ background: color[dark ? 1 : 0] }} aria-hidden />
              {label}
            </Text>
          ))}
        </Group>
      </Group>
      <div ref={ref} style={{ height, overflow: 'hidden' }} role="img" aria-label={`${title}: ${summary}`}>
        <div ref={host} />
      </div>
    </Paper>
  );
}

/** Each line on top of those before it, the topmost first: it is drawn first, so that the others stay visible. */
export function stackedUp([times = [], ...lines]: ChartProps['data']): (number | null)[][] {
  const sums: number[] = times.map(() => 0);
  const tops = lines.map((line) => line.map((value, index) => (sums[index] = (sums[index] ?? 0) + (value ?? 0))));
  return [[...times], ...tops.reverse()];
}

function aligned(data: ChartProps['data']): uPlot.AlignedData {
  const [times = [], ...values] = data;
  return [times.map((time) => time ?? 0), ...values.map((line) => [...line])];
}

interface DrawnOptions {
  readonly stacked: boolean;
  readonly isUtc: boolean;
  readonly width: number;
  readonly height: number;
  readonly dark: boolean;
  /** The values as they are, not on top of one another. */
  readonly values: RefObject<ChartProps['data']>;
}

function optionsOf({
  lines,
  format,
  atLeast,
  steps,
  stacked,
  isUtc,
  width,
  height,
  dark,
  values,
}: Pick<ChartProps, 'lines' | 'format' | 'atLeast' | 'steps'> & DrawnOptions): uPlot.Options {
  const bars = uPlot.paths.bars?.({ size: [0.85, 48], align: 1 });
  const ink = dark ? '#a6a7ab' : '#5c636a';
  const grid = dark ? 'rgba(255,255,255,0.07)' : 'rgba(0,0,0,0.07)';
  const font = '11px system-ui, sans-serif';
  return {
    width,
    height,
    // Half a label of the axis fits beside the last mark.
    padding: [8, 24, 0, 0],
    ...(isUtc ? { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') } : {}),
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    scales: {
      x: { time: true, ...(stacked ? { range: ({ data: [times] }: uPlot) => rangeOfSlots(times) } : {}) },
      y: { range: (_plot, _min, max) => [0, Math.max((max ?? 0) * 1.1, atLeast)] },
    },
    axes: [
      {
        stroke: ink,
        font,
        grid: { show: false },
        ticks: { show: false },
        size: 26,
        space: 80,
        values: (_plot, splits) => splits.map((at) => clock(at, splits, isUtc)),
      },
      {
        stroke: ink,
        font,
        grid: { stroke: grid, width: 1 },
        ticks: { show: false },
        size: 58,
        ...(steps === undefined ? {} : { incrs: [...steps] }),
        values: (_plot, splits) => splits.map((value) => format(value)),
      },
    ],
    series: [
      {},
      ...(stacked ? [...lines].reverse() : lines).map(({ label, color, fill }): uPlot.Series => {
        const stroke = color[dark ? 1 : 0];
        if (stacked) return { label, stroke, fill: stroke, width: 0, points: { show: false }, ...(bars ? { paths: bars } : {}) };
        // Between two steps with a value there may be some without a call: the line goes on.
        return { label, stroke, width: 1.75, spanGaps: true, points: { show: false }, ...(fill ? { fill: `${stroke}26` } : {}) };
      }),
    ],
    plugins: [tooltip(lines, format, values, isUtc)],
  };
}

function zone(isUtc: boolean): { readonly timeZone?: string } {
  return isUtc ? { timeZone: 'UTC' } : {};
}

/** Time of day, as precise as the distance of the marks requires. */
function clock(seconds: number, marks: readonly number[], isUtc: boolean): string {
  const distance = (marks[1] ?? 0) - (marks[0] ?? 0);
  if (distance >= 86_400) return new Date(seconds * 1000).toLocaleDateString(undefined, { month: 'short', day: 'numeric', ...zone(isUtc) });
  const second = distance < 60 ? { second: '2-digit' as const } : {};
  return new Date(seconds * 1000).toLocaleTimeString(undefined, { hour12: false, hour: '2-digit', minute: '2-digit', ...second });
}

/** Time with the date for steps of hours or more, without the time of day for steps of days. */
function moment(seconds: number, times: ArrayLike<number>, isUtc: boolean): string {
  const at = new Date(seconds * 1000);
  const step = (times[1] ?? 0) - (times[0] ?? 0);
  const date = at.toLocaleDateString(undefined, { weekday: 'short', month: 'short', day: 'numeric', ...zone(isUtc) });
  if (step >= 86_400) return date;
  const time = at.toLocaleTimeString(undefined, { hour12: false });
  return step >= 3_600 ? `${date}, ${time}` : time;
}

/** The values under the pointer, as text. */
function tooltip(
  lines: readonly ChartLine[],
  format: (value: number) => string,
  shown: RefObject<ChartProps['data']>,
  isUtc: boolean,
): uPlot.Plugin {
  const box = document.createElement('div');
  box.className = classes['tooltip'] ?? '';
  return {
    hooks: {
      init: (plot) => plot.over.append(box),
      setCursor: (plot) => {
        const { idx, left = 0 } = plot.cursor;
        const time = idx == null ? undefined : plot.data[0][idx];
        box.style.display = time === undefined || left < 0 ? 'none' : 'block';
        if (idx == null || time === undefined) return;
        const values = lines.map(({ label }, index) => {
          const value = shown.current[index + 1]?.[idx];
          return `${label} ${value == null ? '–' : format(value)}`;
        });
        box.textContent = [moment(time, plot.data[0], isUtc), ...values].join('\n');
        const flip = left > plot.over.clientWidth / 2;
        box.style.left = flip ? '' : `${left + 12}px`;
        box.style.right = flip ? `${plot.over.clientWidth - left + 12}px` : '';
      },
    },
  };
}
