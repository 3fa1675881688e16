/**
 * Lua that runs in the very script that takes jobs from a queue, so that nothing lies between taking a job and what is to
 * be done about its call, not even an answer. For a single node: on a cluster the two are in different slots.
 */
export interface DequeueHook {
  /**
   * Body of a function of CALLS, `{ callId, attempt, callId, attempt, ... }`, and ARGV, which are the `args`. It returns a
   * list: one item that is the same for all, then one for each call.
   */
  readonly lua: string;
  readonly args: readonly string[];
}

/** What it answered about one call. `lost`: it may have run, but its answer never came. */
export type DequeueHookResult = { readonly kind: 'answered'; readonly shared: unknown; readonly own: unknown } | { readonly kind: 'lost' };
