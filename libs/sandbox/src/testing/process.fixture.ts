import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `look` returns a value other than false, undefined or null; fails after `withinMs`. */
export async function eventually<T>(
  look: () => T | false | undefined | null | Promise<T | false | undefined | null>,
  withinMs = 60_000,
): Promise<T> {
  const until = performance.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen !== false && seen !== undefined && seen !== null) return seen;
    if (performance.now() > until) throw new Error(`nothing came of ${look.toString()} in ${withinMs} ms`);
    await sleep(10);
  }
}

/** The process ids a script wrote into `file`, one a line, once there are `atLeast`. */
export function pidsIn(file: string, atLeast: number): number[] | undefined {
  try {
    const pids = readFileSync(file, 'utf8').split('\n').slice(0, -1).map(Number);
    return pids.length >= atLeast ? pids : undefined;
  } catch {
    return undefined;
  }
}

/** False for a zombie, which only waits to be collected. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
