import { keys, loadLua } from '#redis';
import type { DequeueClaimHook, WorkerIdentity } from '../event-log.port.js';
import { claimArgs } from './to-transition.js';

/** Lua that defines `onDequeue(jobs, args)`: claims the calls of jobs in the script that dequeues the jobs. */
export const CLAIM_ON_DEQUEUE = loadLua(new URL('./claim-on-dequeue.lua', import.meta.url));

/** Claims with this token; a running call is not claimed again, so a job may be dequeued twice. */
export function claimOnDequeue(claimant: WorkerIdentity, token: string): DequeueClaimHook {
  return { lua: CLAIM_ON_DEQUEUE, args: [keys.cancelChannel(), ...claimArgs(claimant, token)].map(String) };
}
