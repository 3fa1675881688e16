import { setTimeout as sleep } from 'node:timers/promises';
import { mapValues } from './figures.js';
import { cpuOf } from './processes.js';
import type { ToolyardUnderTest } from './toolyard.contender.js';

/** Events are sealed a minute after they were written, where a segment is not full before. */
const SEALED_MS = 70_000;

/** CPU µs a call, by process. */
export type WholeRun = Readonly<Record<string, number>>;

/** Processes that keep what has ended. The sealer works a minute later, so all of them are judged by the whole run. */
const HISTORY = ['projector', 'postgres', 'sealer'] as const;

/** Begins to measure; the end waits until the log is sealed. */
export function startWholeRun(toolyards: readonly ToolyardUnderTest[]): () => Promise<WholeRun[]> {
  const before = toolyards.map(({ processes }) => mapValues(processes, cpuOf));
  return async () => {
    await sleep(SEALED_MS);
    return toolyards.map(({ processes, submitted }, index) =>
      mapValues(processes, (pid, name) => (cpuOf(pid) - (before[index]?.[name] ?? 0)) / submitted()),
    );
  };
}

/** CPU µs a call of history and archive. */
export function historyCpu(whole: WholeRun): number {
  return sumOf(whole, HISTORY);
}

export function sumOf(cpu: Readonly<Record<string, number>>, processes: readonly string[]): number {
  return processes.reduce((sum, name) => sum + (cpu[name] ?? 0), 0);
}
