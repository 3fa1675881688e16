import { withLowPriority } from './low-priority.js';
import { watchForOverrun, type Overrun } from './resource-limit-watchdog.js';
import { askToStop, emptied, killAll, living, type ProcessTree } from './process-tree.js';
import type { ResourceLimits } from './resource-limits.js';
import type { Exit, ProcessEnding } from './exit-status.js';

export interface TreeStopper {
  /** How the tree was ended before its time, or undefined when it was not; from then on nothing ends it any more. */
  readonly finished: (exit: Exit) => Promise<ProcessEnding | undefined>;
  /** Resolves when even SIGKILL did not end the program in time, so that nobody waits for its exit for ever. */
  readonly hopeless: Promise<Exit>;
}

/** Ends a tree when `signal` aborts (SIGTERM, after the grace SIGKILL) or when it uses more than it may (SIGKILL), whichever comes first. */
export function processTreeKiller(
  tree: ProcessTree,
  options: { readonly signal: AbortSignal; readonly graceMs: number },
  limits: ResourceLimits | undefined,
): TreeStopper {
  const { signal } = options;
  let stopping: Promise<Stopping> | undefined;
  let giveUp: (exit: Exit) => void = () => undefined;
  const hopeless = new Promise<Exit>((resolve) => (giveUp = resolve));
  const begin = (stop: () => Promise<Stopping>) => {
    stopping ??= stop();
    void stopping.then(() => living(tree).length > 0 && giveUp({ code: null, signal: 'SIGKILL' }));
  };
  const onAbort = () => begin(() => stopTree(tree, options.graceMs));
  const onOverrun = (overrun: Overrun) => {
    // Also while it is being asked to stop: its grace is no leave to take more.
    if (stopping) void withLowPriority(() => killAll(tree));
    else begin(() => killFor(tree, overrun));
  };
  const unwatch = limits && watchForOverrun(tree, limits, onOverrun);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    hopeless,
    finished: async (exit) => {
      signal.removeEventListener('abort', onAbort);
      unwatch?.();
      const stopped = await stopping;
      return stopped?.how === 'stopped' ? { ...stopped, code: exit.code } : stopped;
    },
  };
}

/** Nothing, when the program had ended before. */
type Stopping = Exclude<ProcessEnding, { how: 'stopped' }> | { readonly how: 'stopped'; readonly tookMs: number } | undefined;

async function stopTree(tree: ProcessTree, graceMs: number): Promise<Stopping> {
  const askedAt = performance.now();
  if (!tree.leaderRuns() && living(tree).length === 0) return undefined;
  askToStop(tree);
  const how = (await emptied(tree, graceMs)) ? 'stopped' : 'killed';
  await killAll(tree);
  return { how, tookMs: Math.round(performance.now() - askedAt) };
}

async function killFor(tree: ProcessTree, overrun: Overrun): Promise<Stopping> {
  await withLowPriority(() => killAll(tree));
  return { how: 'over_limit', overrun };
}
