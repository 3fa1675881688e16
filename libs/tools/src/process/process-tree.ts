import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { carriesMark, type ProcessMark } from './process-mark.js';

/** All processes of one run: the group of its leader and, on Linux, whatever carries the run's mark. */
export interface ProcessTree {
  readonly leader: number;
  readonly mark: ProcessMark;
  readonly tag: string;
}

const LOOK_AGAIN_MS = 20;
/** A killed process that the kernel does not let go (stuck in a device) is given up after this time. */
const GIVE_UP_KILLING_MS = 2_000;

/** The living processes of the tree; ended ones that nobody has collected yet do not count. */
export function living(tree: ProcessTree): number[] {
  if (process.platform !== 'linux') return groupIsAlive(tree.leader) ? [-tree.leader] : [];
  return candidates(tree.leader).filter((pid) => {
    const stat = statOf(pid);
    if (stat === undefined || stat.state === 'Z' || stat.state === 'X') return false;
    return stat.group === tree.leader || carriesMark(pid, tree.mark, tree.tag);
  });
}

/** Signals every living process of the tree; those that end meanwhile are no fault. Returns how many there were. */
export function signalAll(tree: ProcessTree, signal: 'SIGTERM' | 'SIGKILL'): number {
  const pids = living(tree);
  for (const pid of pids) trySignal(pid, signal);
  return pids.length;
}

/** Waits until the tree is empty; false when it is not after `timeoutMs`. */
export async function emptied(tree: ProcessTree, timeoutMs: number): Promise<boolean> {
  const until = performance.now() + timeoutMs;
  while (living(tree).length > 0) {
    if (performance.now() >= until) return false;
    await sleep(Math.min(LOOK_AGAIN_MS, timeoutMs));
  }
  return true;
}

/**
 * Kills until nothing is left, again and again because a tree may grow while it is being killed.
 * Resolves to the processes that could not be killed: normally none.
 */
export async function killAll(tree: ProcessTree): Promise<number[]> {
  const until = performance.now() + GIVE_UP_KILLING_MS;
  while (signalAll(tree, 'SIGKILL') > 0) {
    if (performance.now() >= until) return living(tree);
    await sleep(2);
  }
  return [];
}

/** Process ids rise from the leader's on, until they wrap around: then any process may be a descendant. */
function candidates(leader: number): number[] {
  const pids = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  const newest = Number(readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1));
  return newest >= leader ? pids.filter((pid) => pid >= leader) : pids;
}

/** State and process group; the name before them stands in parentheses and may hold anything, also `)`. */
function statOf(pid: number): { state: string; group: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state = '', , group] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state, group: Number(group) };
  } catch {
    return undefined;
  }
}

function groupIsAlive(leader: number): boolean {
  try {
    return process.kill(-leader, 0);
  } catch {
    return false;
  }
}

function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended first, or it belongs to another user now: `killAll` tells what is left.
  }
}
