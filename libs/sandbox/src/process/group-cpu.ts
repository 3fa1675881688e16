import { readFileSync } from 'node:fs';

/** Files of CPU time in hierarchies of cgroups v1 and v2, with their units per millisecond. */
const FILES = [
  { name: 'cpuacct.usage', pattern: /^(\d+)$/m, unitsPerMs: 1_000_000 },
  { name: 'cpu.stat', pattern: /^usage_usec (\d+)$/m, unitsPerMs: 1_000 },
] as const;

/** CPU time in milliseconds of all that ever ran in a control group; undefined where the kernel does not count it. */
export function cpuMsOfGroup(group: string): number | undefined {
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
