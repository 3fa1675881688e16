import { readFileSync, writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

const AUTOGROUP = '/proc/self/autogroup';
let holders = 0;
let restore: () => void = () => undefined;

/**
 * Runs `work` with a higher scheduling priority than the processes that it kills: hundreds of processes in sessions of their own
 * would leave this process almost no CPU time. Only root may raise its priority; for others `work` runs unchanged.
 */
export async function withHighPriority<T>(work: () => Promise<T>): Promise<T> {
  if (holders === 0) restore = raisePriority();
  holders += 1;
  try {
    return await work();
  } finally {
    holders -= 1;
    if (holders === 0) restore();
  }
}

/** Raises both priorities: among sessions, if the kernel groups by them, and among processes, if it does not. */
function raisePriority(): () => void {
  try {
    const before = getPriority();
    setPriority(constants.priority.PRIORITY_HIGHEST);
    const among = setSessionPriority('-20');
    return () => {
      setPriority(before);
      if (among !== undefined) setSessionPriority(among);
    };
  } catch {
    return () => undefined;
  }
}

/** The former value, or undefined where there are no such groups. */
function setSessionPriority(nice: string): string | undefined {
  try {
    const before = /nice (-?\d+)/.exec(readFileSync(AUTOGROUP, 'latin1'))?.[1];
    if (before !== undefined) writeFileSync(AUTOGROUP, nice);
    return before;
  } catch {
    return undefined;
  }
}
