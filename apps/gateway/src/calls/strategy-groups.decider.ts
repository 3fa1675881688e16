import type { BatchStrategy } from '#contracts';

/** Groups of calls that may run at the same time, in order; a group starts when the previous one has ended. */
export function groupsOf(strategy: BatchStrategy, readOnly: readonly boolean[]): number[][] {
  const all = readOnly.map((_, index) => index);
  switch (strategy.type) {
    case 'sequential':
      return all.map((index) => [index]);
    case 'parallel':
      return [all];
    case 'batched':
      return Array.from({ length: Math.ceil(all.length / strategy.size) }, (_, n) => all.slice(n * strategy.size, (n + 1) * strategy.size));
    case 'tiered':
      return tiers(readOnly);
    default:
      return strategy satisfies never;
  }
}

function tiers(readOnly: readonly boolean[]): number[][] {
  const groups: number[][] = [];
  readOnly.forEach((isRead, index) => {
    const last = groups.at(-1);
    if (isRead && index > 0 && readOnly[index - 1] === true) last?.push(index);
    else groups.push([index]);
  });
  return groups;
}

interface GroupedCall {
  readonly readOnly: boolean;
  readonly isStarted: boolean;
}

/**
 * Calls that may start when all started ones have ended; `isNewGroup`: nothing of their group was started, and it is not the
 * first. Pure.
 */
export function nextOf<T extends GroupedCall>(
  strategy: BatchStrategy,
  calls: readonly T[],
): { readonly calls: T[]; readonly isNewGroup: boolean } {
  const groups = groupsOf(
    strategy,
    calls.map(({ readOnly }) => readOnly),
  ).map((indexes) => calls.filter((_, index) => indexes.includes(index)));
  const current = groups.findIndex((group) => group.some(({ isStarted }) => !isStarted));
  const group = groups[current] ?? [];
  const waiting = group.filter(({ isStarted }) => !isStarted);
  const isSerial = strategy.type === 'parallel' && strategy.serializeSideEffects;
  const firstWrite = waiting.find(({ readOnly }) => !readOnly);
  return {
    calls: isSerial ? waiting.filter((call) => call.readOnly || call === firstWrite) : waiting,
    isNewGroup: current > 0 && waiting.length === group.length,
  };
}
