import { LuaScript } from '#redis';

const ALLOW_OOM = '#!lua flags=allow-oom';

/** Our scripts on BullMQ's keys. Each file's header states its KEYS, ARGV and return value. */
export const addJobsScript = load('add-jobs');
export const completeAndDequeueScript = load('complete-and-dequeue', ALLOW_OOM);
export const requeueOwnedScript = load('requeue-owned', ALLOW_OOM);
export const requeueStalledScript = load('requeue-stalled', ALLOW_OOM);

/** Script for workers with a dequeue hook. `dequeueHook` is Lua that defines `onDequeue`, see `DequeueHook`. */
export function dequeueOrRegisterScript(dequeueHook: string): LuaScript {
  return load('dequeue-or-register', ALLOW_OOM, { dequeueHook });
}

/** Script for producers whose workers run this dequeue hook. */
export function directDispatchScript(dequeueHook: string): LuaScript {
  return load('direct-dispatch', '#!lua', { dequeueHook });
}

/** Key of idle-worker registrations, shared by workers and producers with the same scripts only: others could not read them. */
export function idleKeyOf(dequeueHook: string): string {
  return `idle:${directDispatchScript(dequeueHook).sha.slice(0, 12)}`;
}

function load(name: string, shebang?: string, provided?: Record<string, string>): LuaScript {
  return LuaScript.load(new URL(`./lua/${name}.lua`, import.meta.url), shebang, provided);
}
