import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** The kernel counts threads, and one process has many. */
export const THREADS_A_PROCESS = 8;

/** A control group for one run. */
export interface PidGroup {
  /** Words before a command that put it, and all that it starts, into the group. */
  readonly commandPrefix: readonly string[];
  /** Removes the group when nothing runs in it any more. Never rejects. */
  close(): Promise<void>;
}

const NAME = /^toolyard-(\d+)-\d+$/;
const JOIN = 'echo 0 > "$1/cgroup.procs" || exit 125; shift; exec "$@"';
const CLOSE_TRIES = 20;

let parent: string | undefined | null = null;
let last = 0;

/**
 * Where this process may make groups with a limit of threads: below its own one, in the hierarchy `pids` of cgroups v1 or in
 * v2 where the controller `pids` is handed on. Undefined where it may not, as in most containers and for ordinary users.
 * Tried once.
 */
export function pidGroupsFolder(): string | undefined {
  if (parent === null) parent = process.platform === 'linux' ? ownGroups().find(worksIn) : undefined;
  return parent;
}

/** A group that holds at most so many processes; undefined where groups cannot be made. */
export function openPidGroup(processes: number): PidGroup | undefined {
  const folder = pidGroupsFolder();
  if (folder === undefined) return undefined;
  try {
    const group = make(folder, processes * THREADS_A_PROCESS);
    return { commandPrefix: ['/bin/sh', '-c', JOIN, 'sh', group], close: () => remove(group) };
  } catch {
    return undefined;
  }
}

function ownGroups(): string[] {
  try {
    return readFileSync('/proc/self/cgroup', 'latin1')
      .split('\n')
      .flatMap((line) => {
        const [, controllers = '', path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
        const own = path === '/' ? '' : path;
        if (controllers.split(',').includes('pids')) return [`/sys/fs/cgroup/${controllers}${own}`];
        return controllers === '' && line !== '' ? [`/sys/fs/cgroup${own}`] : [];
      });
  } catch {
    return [];
  }
}

/** Makes one, and removes what processes left behind that were killed. */
function worksIn(folder: string): boolean {
  try {
    for (const name of readdirSync(folder)) if (isAbandoned(name)) tryRemove(`${folder}/${name}`);
    rmdirSync(make(folder, THREADS_A_PROCESS));
    return true;
  } catch {
    return false;
  }
}

function isAbandoned(name: string): boolean {
  const pid = Number(NAME.exec(name)?.[1]);
  if (!Number.isInteger(pid)) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

function make(folder: string, threads: number): string {
  last += 1;
  const group = `${folder}/toolyard-${process.pid}-${last}`;
  mkdirSync(group);
  try {
    writeFileSync(`${group}/pids.max`, String(threads));
    return group;
  } catch (error) {
    tryRemove(group);
    throw error;
  }
}

async function remove(group: string): Promise<void> {
  for (let tries = 0; tries < CLOSE_TRIES && !tryRemove(group); tries += 1) await sleep(10);
}

function tryRemove(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch {
    return false;
  }
}
