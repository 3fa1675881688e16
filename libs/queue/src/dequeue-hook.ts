/**
 * Lua that runs in the dequeue script: job and call change in one atomic step, without a round trip. For a single node: on a
 * cluster the two are in different slots.
 */
export interface DequeueHook {
  /**
   * Defines `local function onDequeue(jobs, args)`. `jobs` is `{ callId, attempt, callId, attempt, ... }`, `args` are those
   * below. It returns a list: one item for all jobs, then one item a job.
   */
  readonly lua: string;
  readonly args: readonly string[];
}

/** Result of `onDequeue` for one call. `lost`: the hook may have run, but its answer never came. */
export type DequeueHookResult = { readonly kind: 'answered'; readonly shared: unknown; readonly own: unknown } | { readonly kind: 'lost' };
