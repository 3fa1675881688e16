import type { InFlightAttempts } from './in-flight-attempts.js';

/** Time for running calls to end by themselves; most take less. */
const NEARLY_DONE_MS = 1_000;
/** Time added to the grace of an abort, for the last events to reach the log. */
const LAST_WRITE_MS = 1_000;

export interface DrainTimes {
  /** Time in which `once` calls may continue. */
  readonly drainMs: number;
  /** The grace of an aborted tool. */
  readonly stopGraceMs: number;
}

/**
 * Ends the attempts in flight. Resolves when none remains or the time is over.
 *
 * 1. for a moment all of them may end by themselves
 * 2. calls that may run again are requeued, which does not count as a failure
 * 3. the others continue for the rest of the drain time
 * 4. then they are aborted, and end as unknown unless they still finish
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
