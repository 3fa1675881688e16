import type { Measured } from './figures.js';
import type { FrontFigures } from './front.js';
import { median } from './load.js';
import type { UpdateFigures } from './updates.js';

export type Load = 'flood' | 'one' | 'sixteen' | 'sixtyFour';
type Round = { readonly raw: Measured; readonly ours: Measured };

export interface Paired {
  readonly runs: Record<Load, Round[]>;
  /** Calls a second, ours by raw BullMQ's of the same round; the median of the rounds. */
  readonly ratios: Readonly<Record<Load, number>>;
}

export interface Figures {
  readonly paired: Paired;
  readonly front: FrontFigures;
  readonly updates: UpdateFigures;
}

export interface Verdict {
  readonly figure: string;
  readonly value: string;
  readonly gate: string;
  readonly goal: string;
  readonly verdict: 'goal' | 'gate' | 'FAILED';
}

/** The gates and goals of the project. A figure that misses its gate fails the bench. */
export function verdicts({ paired, front, updates }: Figures): Verdict[] {
  const over = (load: Load, read: (round: Round) => number) => median(paired.runs[load].map(read));
  const addedMs = over('one', ({ ours, raw }) => ours.p50Ms - raw.p50Ms);
  const p99Ratio = over('sixtyFour', ({ ours, raw }) => ours.p99Ms / raw.p99Ms);
  const commands = over('sixtyFour', ({ ours }) => ours.commands);
  return [
    atLeast('flood, calls/s against raw BullMQ', paired.ratios.flood, 0.5, 0.9, '×'),
    atMost('p50 at 1 in flight, added to raw', addedMs, 1, 0.2, ' ms'),
    atLeast('64 in flight, calls/s against raw', paired.ratios.sixtyFour, 1, 2.5, '×'),
    atMost('64 in flight, p99 against raw', p99Ratio, 1, 0.6, '×'),
    atMost('Redis commands a call at 64 in flight', commands, 50, 24, ''),
    atMost('10,000 updates of a call to 100 sockets', updates.seconds, 3, 1, ' s'),
    atMost('gateway memory grown by that', updates.grownMiB, Number.POSITIVE_INFINITY, 32, ' MiB'),
    atMost('HTTP front against bare Fastify, CPU', front.factor, 3, 2, '×'),
  ];
}

function atLeast(figure: string, value: number, gate: number, goal: number, unit: string): Verdict {
  return {
    figure,
    value: format(value, unit),
    gate: `≥ ${gate}${unit}`,
    goal: `≥ ${goal}${unit}`,
    verdict: value >= goal ? 'goal' : value >= gate ? 'gate' : 'FAILED',
  };
}

function atMost(figure: string, value: number, gate: number, goal: number, unit: string): Verdict {
  const shown = Number.isFinite(gate) ? `≤ ${gate}${unit}` : '–';
  return {
    figure,
    value: format(value, unit),
    gate: shown,
    goal: `≤ ${goal}${unit}`,
    verdict: value <= goal ? 'goal' : value <= gate ? 'gate' : 'FAILED',
  };
}

function format(value: number, unit: string): string {
  return `${value.toFixed(Math.abs(value) < 10 ? 2 : 1)}${unit}`;
}

export function printTable({ paired, front, updates }: Figures, judged: readonly Verdict[]): void {
  console.log('');
  for (const { figure, value, gate, goal, verdict } of judged) console.log(row([figure, value, `gate ${gate}`, `goal ${goal}`, verdict]));
  console.log('');
  const titles = { flood: 'flood', one: '1 in flight', sixteen: '16 in flight', sixtyFour: '64 in flight' } as const;
  for (const load of Object.keys(titles) as Load[]) {
    for (const side of ['raw', 'ours'] as const)
      console.log(
        line(
          `${titles[load]}, ${side === 'raw' ? 'raw BullMQ' : 'Toolyard'}`,
          paired.runs[load].map((round) => round[side]),
        ),
      );
  }
  console.log(
    `HTTP front: ${front.frontMicros.toFixed(0)} µs CPU a request, bare Fastify ${front.bareMicros.toFixed(0)} µs; updates spared to slow sockets: ${updates.spared}\n`,
  );
}

function row([figure = '', ...cells]: string[]): string {
  return figure.padEnd(42) + cells.map((cell) => cell.padEnd(17)).join('');
}

function line(title: string, runs: readonly Measured[]): string {
  const mid = (read: (run: Measured) => number) => median(runs.map(read));
  const cpu = Object.keys(runs[0]?.cpu ?? {}).map((name) => `${name} ${mid((run) => run.cpu[name] ?? 0).toFixed(0)}`);
  const resident = Object.keys(runs[0]?.resident ?? {}).map((name) => `${name} ${mid((run) => run.resident[name] ?? 0).toFixed(0)}`);
  return (
    `${title.padEnd(26)}${mid((run) => run.callsPerSecond)
      .toFixed(0)
      .padStart(6)} calls/s  p50 ${mid((run) => run.p50Ms).toFixed(2)} ms  p99 ${mid((run) => run.p99Ms).toFixed(2)} ms  ` +
    `${mid((run) => run.commands).toFixed(1)} commands  CPU µs: ${cpu.join(', ')}  MiB: ${resident.join(', ')}`
  );
}
