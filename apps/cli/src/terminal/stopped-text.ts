import type { Stopped } from '#contracts';
import { duration } from './time-text.js';

/** How a cancel or a time-out stopped the tool. */
export function stoppedText({ how, tookMs }: Stopped): string {
  switch (how) {
    case 'stopped':
      return `the tool stopped after ${duration(tookMs)}`;
    case 'killed':
      return `the tool was killed after ${duration(tookMs)}`;
    case 'finished_first':
      return 'the tool had finished first';
    case 'not_started':
      return 'the tool had not started';
    case 'unknown':
      return 'how the tool ended is unknown';
    default:
      return how satisfies never;
  }
}
