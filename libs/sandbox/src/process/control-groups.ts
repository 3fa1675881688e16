import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ResourceLimits } from './resource-limits.js';

/** Files of CPU time in hierarchies of cgroups v1 and v2, with their units per millisecond. */
const FILES = [
  { name: 'cpuacct.usage', pattern: /^(\d+)$/m, unitsPerMs: 1_000_000 },
  { name: 'cpu.stat', pattern: /^usage_usec (\d+)$/m, unitsPerMs: 1_000 },
] as const;

/** CPU time in milliseconds of all that ever ran in a control group; undefined where the kernel does not count it. */
function cpuMsOfGroup(group: string): number | undefined {
  for (const { name, pattern, unitsPerMs } of FILES) {
    const units = pattern.exec(textOf(`${group}/${name}`))?.[1];
    if (units !== undefined) return Number(units) / unitsPerMs;
  }
  return undefined;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** The kernel counts threads, and one process has many. */
export const THREADS_A_PROCESS = 8;

/** `cpuacct` limits nothing: cgroups v1 count CPU time in a hierarchy of its own, v2 in every group. */
type Controller = 'pids' | 'memory' | 'cpuacct';

/** The control groups of one run: one, or one for each controller. */
export interface ControlGroup {
  /** Words before a command that put it, and all that it starts, into the group. */
  readonly commandPrefix: readonly string[];
  /** The processes that are in the group now, also those that have put off the mark of the run. */
  pids(): ReadonlySet<number>;
  /** The memory at which the kernel killed a process of the group; undefined as long as it killed none. */
  memoryOverrun(): number | undefined;
  /** CPU time of all that ran in the group, in milliseconds, to be read before `close`; undefined where it is not counted. */
  cpuMs(): number | undefined;
  /** Removes the group when nothing runs in it any more. Never rejects. */
  close(): Promise<void>;
}

/** Pid, start time, number. */
const NAME = /^toolyard-(\d+)-(\d+)-\d+$/;
const JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@"';
const CLOSE_TRIES = 20;
/** The looks at the tree come first where they are in time: their sum leaves out what the kernel keeps for a group, such as caches. */
const MEMORY_SLACK = 17 / 16;
/** The files of a limit, by what a hierarchy of cgroups v2 or v1 has; the first that is there has to take the limit. */
const LIMIT_FILES = { pids: ['pids.max'], memory: ['memory.max', 'memory.limit_in_bytes'] } as const;
/** Swap counts as memory, where the kernel counts it. */
const SWAP_FILES = { 'memory.swap.max': () => '0', 'memory.memsw.limit_in_bytes': (bytes: string) => bytes } as const;
const KILL_COUNTS = ['memory.events', 'memory.oom_control'] as const;

const folders = new Map<Controller, string | undefined>();
/** Tried with these. */
const PROBE = { pids: THREADS_A_PROCESS, memory: 67_108_864, cpuacct: 0 } as const;
let last = 0;
/** Groups that could not be removed yet, because of a process in them. */
const leftovers = new Set<string>();

/**
 * Folder in which this process may create groups with a limit: below its own one, in the hierarchy of the controller of cgroups
 * v1 or in v2 if the controller is delegated. Undefined if it may not, as in most containers and for ordinary users. Tried
 * once.
 */
export function controlGroupsFolder(controller: Controller): string | undefined {
  if (!folders.has(controller)) {
    const works = (folder: string) => worksIn(folder, controller);
    folders.set(controller, process.platform === 'linux' ? ownGroups(controller).find(works) : undefined);
  }
  return folders.get(controller);
}

/**
 * A group that holds at most so many processes and so much memory; undefined where groups cannot be made. A limit of memory
 * of each process (`dataBytes`) is enough.
 */
export function openControlGroup({ processes, memoryBytes, dataBytes }: ResourceLimits): ControlGroup | undefined {
  const limits: [Controller, number][] = [['pids', processes * THREADS_A_PROCESS]];
  const most = Math.ceil(memoryBytes * MEMORY_SLACK);
  if (dataBytes === undefined) limits.push(['memory', most]);
  limits.push(['cpuacct', 0]);
  const groups = new Map<string, string>();
  last += 1;
  try {
    for (const [controller, limit] of limits) {
      const folder = controlGroupsFolder(controller);
      if (folder === undefined) continue;
      const group = groups.get(folder) ?? make(folder);
      groups.set(folder, group);
      hold(group, controller, limit);
    }
  } catch {
    for (const group of groups.values()) tryRemove(group);
    return undefined;
  }
  const all = [...groups.values()];
  if (all.length === 0) return undefined;
  return {
    commandPrefix: ['/bin/sh', '-c', JOIN, 'sh', ...all, '--'],
    pids: () => pidsIn(all[0] ?? ''),
    memoryOverrun: () => (all.some(hasKilled) ? most : undefined),
    cpuMs: () => all.map(cpuMsOfGroup).find((ms) => ms !== undefined),
    close: async () => void (await Promise.all(all.map(remove))),
  };
}

function ownGroups(controller: Controller): string[] {
  try {
    return readFileSync('/proc/self/cgroup', 'latin1')
      .split('\n')
      .flatMap((line) => {
        const [, controllers = '', path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
        const own = path === '/' ? '' : path;
        if (controllers.split(',').includes(controller)) return [`/sys/fs/cgroup/${controllers}${own}`];
        return controllers === '' && line !== '' ? [`/sys/fs/cgroup${own}`] : [];
      });
  } catch {
    return [];
  }
}

/** Makes one, and removes what processes left behind that were killed. */
function worksIn(folder: string, controller: Controller): boolean {
  let group: string | undefined;
  try {
    for (const name of readdirSync(folder)) if (isAbandoned(name)) tryRemove(`${folder}/${name}`);
    last += 1;
    group = make(folder);
    hold(group, controller, PROBE[controller]);
    return true;
  } catch {
    return false;
  } finally {
    if (group !== undefined) tryRemove(group);
  }
}

/** True if the process that created a group has ended: another one may have its pid since. */
function isAbandoned(name: string): boolean {
  const [, pid, startedAt] = NAME.exec(name) ?? [];
  if (pid === undefined) return false;
  const running = startTimeOf(pid);
  return running !== startedAt;
}

/** Start time of a process, in clock ticks since boot (proc_pid_stat(5)); undefined if it does not exist. */
function startTimeOf(pid: string): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program may have spaces and brackets in it.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function make(folder: string): string {
  const group = `${folder}/toolyard-${process.pid}-${startTimeOf('self')}-${last}`;
  mkdirSync(group);
  return group;
}

/** @throws where the group has no such limit, or does not count CPU time */
function hold(group: string, controller: Controller, limit: number): void {
  if (controller === 'cpuacct') {
    if (cpuMsOfGroup(group) === undefined) throw new Error('the control group does not count CPU time');
    return;
  }
  const file = LIMIT_FILES[controller].find((name) => existsSync(`${group}/${name}`));
  if (file === undefined) throw new Error(`the control group has no limit of ${controller}`);
  writeFileSync(`${group}/${file}`, String(limit));
  if (controller !== 'memory') return;
  for (const [name, value] of Object.entries(SWAP_FILES))
    if (existsSync(`${group}/${name}`)) writeFileSync(`${group}/${name}`, value(String(limit)));
}

/** Empty for a group that was removed. */
function pidsIn(group: string): ReadonlySet<number> {
  try {
    return new Set(readFileSync(`${group}/cgroup.procs`, 'latin1').trim().split('\n').map(Number));
  } catch {
    return new Set();
  }
}

function hasKilled(group: string): boolean {
  const counts = KILL_COUNTS.map((name) => `${group}/${name}`).find((file) => existsSync(file));
  try {
    return counts !== undefined && /^oom_kill [1-9]/m.test(readFileSync(counts, 'latin1'));
  } catch {
    return false;
  }
}

async function remove(group: string): Promise<void> {
  for (const old of leftovers) if (tryRemove(old)) leftovers.delete(old);
  for (let tries = 0; tries < CLOSE_TRIES; tries += 1) {
    if (tryRemove(group)) return;
    await sleep(10);
  }
  leftovers.add(group);
}

function tryRemove(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch {
    return false;
  }
}
