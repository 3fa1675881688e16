import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlGroup } from './control-groups.js';
import { hasTag, type ProcessTagMethod } from './process-tag.js';
import { processesSince, type ProcessRow } from './process-table.js';

/** Processes of one run: the group of its leader and, on Linux, all processes with the run's mark or in its control group. */
export interface ProcessTree {
  readonly leader: number;
  readonly tagMethod: ProcessTagMethod;
  readonly tag: string;
  readonly controlGroup: Pick<ControlGroup, 'pids'> | undefined;
  /** True if the leader is a sandbox whose end would kill the others: it is killed without SIGTERM. */
  readonly leaderIsSandbox: boolean;
  /** The leader has not been seen to end: its number, and that of its group, are still its own. */
  readonly leaderRuns: () => boolean;
}

const POLL_MS = 20;
/** A process that does not stop in this time, such as one that waits for a device, stops as soon as it can. */
const GIVE_UP_PAUSING_MS = 2_000;
/** Processes that the kernel does not let go (stuck in a device) are given up after this time. */
const GIVE_UP_KILLING_MS = 2_000;
/** A tree that still grows while it is killed gets so much more. */
const GIVE_UP_GROWING_MS = 15_000;

/** The living processes of the tree; zombies do not count. */
export function listAlive(tree: ProcessTree): number[] {
  if (process.platform !== 'linux') return trySignal(-tree.leader, 0) ? [-tree.leader] : [];
  return membersOf(tree).map(({ pid }) => pid);
}

function membersOf({ leader, tagMethod, tag, controlGroup }: ProcessTree): ProcessRow[] {
  const grouped = controlGroup?.pids();
  return processesSince(leader).filter(({ pid, group }) => group === leader || grouped?.has(pid) === true || hasTag(pid, tagMethod, tag));
}

/**
 * Sends a signal to every living process of the tree except a leader that only holds the others. SIGINT interrupts the current
 * work.
 */
export function terminate(tree: ProcessTree, signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): void {
  for (const pid of listAlive(tree)) if (!(tree.leaderIsSandbox && pid === tree.leader)) trySignal(pid, signal);
}

/**
 * Stops every process of the tree, also those started meanwhile, until `resume`. Excludes a leader that only holds the others.
 * Returns early when the leader ends. False for a tree that still grows after a while.
 */
export async function pause(tree: ProcessTree): Promise<boolean> {
  if (process.platform !== 'linux') return trySignal(-tree.leader, 'SIGSTOP');
  const startedAt = performance.now();
  let before = new Set<number>();
  while (tree.leaderRuns()) {
    const running = stoppable(tree).filter(({ isStopped }) => !isStopped);
    for (const { pid } of running) trySignal(pid, 'SIGSTOP');
    if (running.length === 0) return true;
    if (performance.now() - startedAt >= GIVE_UP_PAUSING_MS) return running.every(({ pid }) => before.has(pid));
    before = new Set(running.map(({ pid }) => pid));
    await sleep(2);
  }
  return true;
}

export function resume(tree: ProcessTree): void {
  if (!tree.leaderRuns()) return;
  if (process.platform !== 'linux') trySignal(-tree.leader, 'SIGCONT');
  else for (const { pid } of stoppable(tree)) trySignal(pid, 'SIGCONT');
}

function stoppable(tree: ProcessTree): ProcessRow[] {
  return membersOf(tree).filter(({ pid }) => !(tree.leaderIsSandbox && pid === tree.leader));
}

/** Waits until the tree is empty; false when it is not after `timeoutMs`. */
export async function waitUntilEmpty(tree: ProcessTree, timeoutMs: number): Promise<boolean> {
  const until = performance.now() + timeoutMs;
  while (listAlive(tree).length > 0) {
    if (performance.now() >= until) return false;
    await sleep(Math.min(POLL_MS, timeoutMs));
  }
  return true;
}

/**
 * Kills until nothing is left, again and again because a tree may grow while it is being killed. The group goes first:
 * the kernel kills it at once, and nothing in it can start another process meanwhile.
 * Resolves to the processes that could not be killed: normally none.
 */
export async function killAll(tree: ProcessTree): Promise<number[]> {
  const startedAt = performance.now();
  let before = new Set<number>();
  if (tree.leaderRuns()) trySignal(-tree.leader, 'SIGKILL');
  for (;;) {
    const pids = killOnce(tree);
    if (pids.length === 0) return [];
    const grows = pids.some((pid) => !before.has(pid));
    if (performance.now() - startedAt >= (grows ? GIVE_UP_GROWING_MS : GIVE_UP_KILLING_MS)) return listAlive(tree);
    before = new Set(pids);
    await sleep(2);
  }
}

function killOnce(tree: ProcessTree): number[] {
  if (process.platform !== 'linux') return trySignal(-tree.leader, 'SIGKILL') ? [-tree.leader] : [];
  const members = membersOf(tree);
  // Only while the group has members: the number of an empty group may be reused.
  if (members.some(({ group }) => group === tree.leader)) trySignal(-tree.leader, 'SIGKILL');
  for (const { pid } of members) trySignal(pid, 'SIGKILL');
  return members.map(({ pid }) => pid);
}

/** False if the process has ended, or belongs to another user now. */
function trySignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
