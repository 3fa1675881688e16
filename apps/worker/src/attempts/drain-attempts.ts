import type { InFlightAttempts } from './in-flight-attempts.js';

/** Calls that are nearly done may end instead of going back: most take less than this. */
const NEARLY_DONE_MS = 1_000;
/** Over the grace of a stop: for the last events to reach the log. */
const LAST_WRITE_MS = 1_000;

export interface DrainTimes {
  /** How long calls that must not run twice may go on. */
  readonly drainMs: number;
  /** How long a tool that was told to stop may take. */
  readonly stopGraceMs: number;
}

/**
 * Lets the running calls come to rest, each in the best way that is left; resolves when nothing runs or the time is over.
 *
 * 1. for a moment all of them may end by themselves
 * 2. those that may run again elsewhere are handed back, which counts as no failure
 * 3. those that may not go on for the rest of the drain time
 * 4. then they are aborted, and end as unknown unless they finish after all
 */
export async function drainAttempts(running: InFlightAttempts, { drainMs, stopGraceMs }: DrainTimes): Promise<'idle' | 'given_up'> {
  const first = Math.min(NEARLY_DONE_MS, drainMs);
  if (await idleWithin(running, first)) return 'idle';
  running.requeueAll();
  if (await idleWithin(running, drainMs - first)) return 'idle';
  running.abortAll();
  return (await idleWithin(running, stopGraceMs + LAST_WRITE_MS)) ? 'idle' : 'given_up';
}

async function idleWithin(running: InFlightAttempts, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const idle = await Promise.race([running.idle().then(() => true), late]);
  clearTimeout(timer);
  return idle;
}
