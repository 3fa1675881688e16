import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ResourceLimits } from './resource-limits.js';
import { processesSince, type ProcessRow } from './process-table.js';
import type { ProcessTree } from './process-tree.js';

/** The limit that a process tree exceeded. */
export interface ResourceLimitExceeded {
  readonly limit: 'memory' | 'processes';
  readonly used: number;
  readonly allowed: number;
}

interface Watched {
  readonly tree: ProcessTree;
  readonly limits: ResourceLimits;
  /** The memory at which the kernel killed a process of the tree; undefined as long as it killed none. */
  readonly memoryOverrun: () => number | undefined;
  readonly onOverrun: (overrun: ResourceLimitExceeded) => void;
}

const CHECK_MS = 50;

/** All trees that this process watches, served by one check; no timer runs while the set is empty. */
const watched = new Set<Watched>();
/** The tree of a process that has been seen, by pid and start: a process never changes the tree. Undefined: none of these. */
let known = new Map<string, Watched | undefined>();
let timer: NodeJS.Timeout | undefined;

/**
 * Calls back, once, when the tree has more processes or more memory than it may. A run that is over before the first
 * look costs nothing. Does nothing where the kernel does not show processes (not Linux). Returns how to stop.
 */
export function watchResourceLimits(entry: Watched): () => void {
  if (process.platform !== 'linux') return () => undefined;
  watched.add(entry);
  for (const [key, owner] of known) if (owner === undefined) known.delete(key);
  scheduleCheck();
  return () => void watched.delete(entry);
}

function scheduleCheck(): void {
  if (timer !== undefined || watched.size === 0) return;
  timer = setTimeout(() => void checkAll().finally(() => ((timer = undefined), scheduleCheck())), CHECK_MS);
  timer.unref();
}

async function checkAll(): Promise<void> {
  if (watched.size === 0) return known.clear();
  const rows = new Map<Watched, ProcessRow[]>();
  const seen: typeof known = new Map();
  for (const row of processesSince(Math.min(...[...watched].map(({ tree }) => tree.leader)))) {
    const key = `${row.pid} ${row.startedAt}`;
    const owner = known.has(key) ? known.get(key) : ownerOf(row);
    seen.set(key, owner);
    if (owner === undefined || !watched.has(owner)) continue;
    const members = rows.get(owner);
    if (members) members.push(row);
    else rows.set(owner, [row]);
  }
  known = seen;
  for (const [entry, members] of rows) {
    const overrun = await exceededLimit(members, entry);
    if (overrun && watched.delete(entry)) entry.onOverrun(overrun);
  }
}

function ownerOf({ pid, group }: ProcessRow): Watched | undefined {
  let shown: string | undefined;
  for (const entry of watched) {
    if (group === entry.tree.leader) return entry;
    const { tagMethod, tag } = entry.tree;
    if (tagMethod.kind === 'none') continue;
    shown ??= textOf(`/proc/${pid}/${tagMethod.file}`);
    if (shown.includes(tagMethod.format(tag))) return entry;
  }
  return undefined;
}

async function exceededLimit(rows: readonly ProcessRow[], { limits, memoryOverrun }: Watched): Promise<ResourceLimitExceeded | undefined> {
  if (rows.length > limits.processes) return { limit: 'processes', used: rows.length, allowed: limits.processes };
  const killedAt = memoryOverrun();
  if (killedAt !== undefined) return { limit: 'memory', used: killedAt, allowed: limits.memoryBytes };
  if (sumOf(rows.map((row) => row.residentBytes)) <= limits.memoryBytes) return undefined;
  const used = sumOf(await Promise.all(rows.map(ownShare)));
  return used > limits.memoryBytes ? { limit: 'memory', used, allowed: limits.memoryBytes } : undefined;
}

/** Memory with shared parts divided among their processes: slow to determine, so only used if the simple sum is too high. */
async function ownShare({ pid, residentBytes }: ProcessRow): Promise<number> {
  try {
    const kilobytes = /^Pss:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1];
    // Missing figure: the process has just ended, and its memory is free.
    return kilobytes === undefined ? 0 : Number(kilobytes) * 1_024;
  } catch (error) {
    return isNotOurs(error) ? residentBytes : 0;
  }
}

/** An unreadable process counts with its last known memory; an ended one (ENOENT, ESRCH) with none. */
function isNotOurs(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM');
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
