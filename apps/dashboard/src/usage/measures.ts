import { bytesText } from '../components/bytes.js';
import { durationText } from '../components/duration.js';
import type { Measure } from './usage-sums.js';

interface MeasureText {
  readonly label: string;
  readonly format: (value: number) => string;
  /** The smallest maximum of its axis. */
  readonly atLeast: number;
}

export const MEASURES: Readonly<Record<Measure, MeasureText>> = {
  calls: { label: 'Calls', format: countText, atLeast: 4 },
  failed: { label: 'Failures', format: countText, atLeast: 4 },
  waitMs: { label: 'Waiting time', format: durationText, atLeast: 10 },
  runMs: { label: 'Run time', format: durationText, atLeast: 10 },
  cpuMs: { label: 'CPU time', format: durationText, atLeast: 10 },
  outputBytes: { label: 'Output', format: bytesText, atLeast: 1000 },
};

function countText(count: number): string {
  return Number.isInteger(count) ? count.toLocaleString() : '';
}
