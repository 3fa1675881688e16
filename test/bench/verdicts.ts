import { serverCpu } from './figures.js';
import type { FrontFigures } from './front.js';
import { of, over, ratioOf, type Round, type Rounds } from './rounds.js';
import type { UpdateFigures } from './updates.js';
import { historyCpu, sumOf, type WholeRun } from './whole-run.js';

export interface Figures {
  /** Rounds with AOF `always`: `inProcess` and `piped` are raw BullMQ, `toolyard` has single POSTs, `batches` 100 calls a request. */
  readonly always: Rounds;
  /** Rounds with AOF `everysec`: `piped` and `toolyard`. */
  readonly everysec: Rounds;
  /** Over the whole run, until the log was sealed. */
  readonly whole: WholeRun;
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

/** Processes that a call waits for. */
const ROAD = ['gateway', 'worker', 'redis'] as const;
/** Raw BullMQ in-process: its Worker is in the process of the client. */
const RAW = ['redis', 'client'] as const;

/** The gates and goals of the project. A figure that misses its gate fails the bench. */
export function verdicts({ always: { flood, one, sixtyFour }, everysec, whole, front, updates }: Figures): Verdict[] {
  const ours = 'toolyard';
  const rate = { read: ({ callsPerSecond }: { callsPerSecond: number }) => callsPerSecond };
  const history = historyCpu(whole);
  const roadOf = (round: Round) => sumOf(of(round, ours).cpu, ROAD);
  return [
    atMost('server CPU a call in flood, accept to End', over(flood, roadOf), 550, 400, ' µs'),
    atMost('history and archive, CPU a call of the whole run', history, 250, 180, ' µs'),
    atMost(
      'both against raw, CPU a call',
      over(flood, (round) => (roadOf(round) + history) / sumOf(of(round, 'inProcess').cpu, RAW)),
      3.5,
      2.3,
      '×',
    ),
    atMost(
      'server CPU of a lone call',
      over(one, (round) => serverCpu(of(round, ours)) - (of(round, ours).cpu['sealer'] ?? 0) + (whole['sealer'] ?? 0)),
      3_500,
      2_000,
      ' µs',
    ),
    atLeast('flood, single POSTs, calls/s against raw', ratioOf(flood, ours, 'inProcess', rate.read), 0.5, 0.75, '×'),
    atLeast('flood, batch route, calls/s against raw', ratioOf(flood, 'batches', 'inProcess', rate.read), 0.7, 0.95, '×'),
    atMost(
      'p50 at 1 in flight, added to raw',
      over(one, (round) => of(round, ours).p50Ms - of(round, 'inProcess').p50Ms),
      1,
      0.5,
      ' ms',
    ),
    atLeast('64 in flight, calls/s against raw, piped', ratioOf(sixtyFour, ours, 'piped', rate.read), 1.2, 1.8, '×'),
    atMost(
      '64 in flight, p99 against raw, piped',
      ratioOf(sixtyFour, ours, 'piped', ({ p99Ms }) => p99Ms),
      1,
      0.75,
      '×',
    ),
    reported('everysec: 64 in flight against raw, piped', ratioOf(everysec.sixtyFour, ours, 'piped', rate.read), '×'),
    reported('everysec: flood against raw, piped', ratioOf(everysec.flood, ours, 'piped', rate.read), '×'),
    reported(
      'Redis commands a call at 64 in flight',
      over(sixtyFour, (round) => of(round, ours).commands),
      '',
    ),
    atMost('10,000 updates of a call to 100 sockets', updates.seconds, 3, 0.8, ' s'),
    atMost('gateway memory grown by that', updates.grownMiB, Number.POSITIVE_INFINITY, 32, ' MiB'),
    atMost('HTTP front against bare Fastify, CPU', front.factor, 3, 2, '×'),
  ];
}

function atLeast(figure: string, value: number, gate: number, goal: number, unit: string): Verdict {
  const verdict = value >= goal ? 'goal' : value >= gate ? 'gate' : 'FAILED';
  return { figure, value: format(value, unit), gate: `≥ ${gate}${unit}`, goal: `≥ ${goal}${unit}`, verdict };
}

function atMost(figure: string, value: number, gate: number, goal: number, unit: string): Verdict {
  const verdict = value <= goal ? 'goal' : value <= gate ? 'gate' : 'FAILED';
  return { figure, value: format(value, unit), gate: Number.isFinite(gate) ? `≤ ${gate}${unit}` : '–', goal: `≤ ${goal}${unit}`, verdict };
}

/** A figure without gate and goal. */
function reported(figure: string, value: number, unit: string): Verdict {
  return { figure, value: format(value, unit), gate: '–', goal: '–', verdict: 'goal' };
}

function format(value: number, unit: string): string {
  return `${value.toFixed(Math.abs(value) < 10 ? 2 : 0)}${unit}`;
}
