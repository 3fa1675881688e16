import { withHighPriority } from './high-priority.js';
import { watchResourceLimits, type ResourceLimitExceeded } from './resource-limit-watchdog.js';
import { terminate, waitUntilEmpty, killAll, listAlive, type ProcessTree } from './process-tree.js';
import type { ResourceLimits } from './resource-limits.js';
import type { ControlGroup } from './control-groups.js';
import type { Exit, ExitStatus } from './exit-status.js';

export interface ProcessTreeKiller {
  /** Status of a tree that was ended early, or undefined; after the call nothing ends it any more. */
  readonly stop: (exit: Exit) => Promise<ExitStatus | undefined>;
  /** Resolves when even SIGKILL did not end the program in time, so that the caller does not wait for its exit for ever. */
  readonly unkillable: Promise<Exit>;
}

/**
 * Kills a tree when `signal` aborts (SIGTERM, after the grace SIGKILL) or when it uses more than it may (SIGKILL), whichever
 * comes first.
 */
export function processTreeKiller(
  tree: ProcessTree,
  options: { readonly signal: AbortSignal; readonly graceMs: number },
  limits: ResourceLimits | undefined,
  group: ControlGroup | undefined,
): ProcessTreeKiller {
  const { signal } = options;
  let stopping: Promise<Stopping> | undefined;
  let giveUp: (exit: Exit) => void = () => undefined;
  const hopeless = new Promise<Exit>((resolve) => (giveUp = resolve));
  const begin = (stop: () => Promise<Stopping>) => {
    stopping ??= stop();
    void stopping.then(() => listAlive(tree).length > 0 && giveUp({ code: null, signal: 'SIGKILL' }));
  };
  const onAbort = () => begin(() => stopTree(tree, options.graceMs));
  const onOverrun = (overrun: ResourceLimitExceeded) => {
    // Limits hold until the end, including the grace period.
    if (stopping) void withHighPriority(() => killAll(tree));
    else begin(() => killFor(tree, overrun));
  };
  const memoryOverrun = () => group?.memoryOverrun();
  const unwatch = limits && watchResourceLimits({ tree, limits, memoryOverrun, onOverrun });
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    unkillable: hopeless,
    stop: async (exit) => {
      signal.removeEventListener('abort', onAbort);
      unwatch?.();
      const stopped = await stopping;
      const used = stopped === undefined && limits !== undefined ? memoryOverrun() : undefined;
      if (used !== undefined && limits !== undefined)
        return { how: 'over_limit', overrun: { limit: 'memory', used, allowed: limits.memoryBytes } };
      return stopped?.how === 'stopped' ? { ...stopped, code: exit.code } : stopped;
    },
  };
}

/** Undefined when the program had ended before. */
type Stopping = Exclude<ExitStatus, { how: 'stopped' }> | { readonly how: 'stopped'; readonly tookMs: number } | undefined;

async function stopTree(tree: ProcessTree, graceMs: number): Promise<Stopping> {
  const askedAt = performance.now();
  if (!tree.leaderRuns() && listAlive(tree).length === 0) return undefined;
  terminate(tree);
  const how = (await waitUntilEmpty(tree, graceMs)) ? 'stopped' : 'killed';
  await killAll(tree);
  return { how, tookMs: Math.round(performance.now() - askedAt) };
}

async function killFor(tree: ProcessTree, overrun: ResourceLimitExceeded): Promise<Stopping> {
  await withHighPriority(() => killAll(tree));
  return { how: 'over_limit', overrun };
}
