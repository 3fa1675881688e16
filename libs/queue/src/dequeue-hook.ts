/**
 * Lua that runs in the script that takes jobs from a queue: nothing lies between taking a job and what it does for the
 * job's call, not even an answer. For a single node: on a cluster the two are in different slots.
 */
export interface DequeueHook {
  /**
   * Defines `local function onDequeue(jobs, args)`. `jobs` is `{ callId, attempt, callId, attempt, ... }`, `args` are those
   * below. It returns a list: one item for all jobs, then one item a job.
   */
  readonly lua: string;
  readonly args: readonly string[];
}

/** What `onDequeue` returned for one call. `lost`: it may have run, but its answer never came. */
export type DequeueHookResult = { readonly kind: 'answered'; readonly shared: unknown; readonly own: unknown } | { readonly kind: 'lost' };
