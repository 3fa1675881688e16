import { readdirSync, readFileSync } from 'node:fs';

/** Process as shown by the kernel. */
export interface ProcessRow {
  readonly pid: number;
  readonly group: number;
  /** Start in ticks since boot; unique together with the pid. */
  readonly startedAt: number;
  /** Stopped by a signal or by a tracer. */
  readonly isStopped: boolean;
  /** Memory in use, what it shares with others included. */
  readonly residentBytes: number;
}

let pageBytes: number | undefined;

/** The living processes that may have been started by `oldest` or later. Zombies are left out. */
export function processesSince(oldest: number): ProcessRow[] {
  return candidates(oldest).flatMap((pid) => rowOf(pid) ?? []);
}

/** Process ids rise, until they wrap around: then any process may be younger. */
function candidates(oldest: number): number[] {
  const pids = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  const newest = Number(readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1));
  return newest >= oldest ? pids.filter((pid) => pid >= oldest) : pids;
}

/** The name of the program is in parentheses and may contain any character, also `)`. Fields: proc(5), counted from the state. */
function rowOf(pid: number): ProcessRow | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const isStopped = fields[0] === 'T' || fields[0] === 't';
    return { pid, group: Number(fields[2]), isStopped, startedAt: Number(fields[19]), residentBytes: Number(fields[21]) * pageSize() };
  } catch {
    return undefined;
  }
}

function pageSize(): number {
  return (pageBytes ??= 1_024 * Number(/KernelPageSize:\s+(\d+) kB/.exec(readFileSync('/proc/self/smaps', 'latin1'))?.[1] ?? 4));
}
