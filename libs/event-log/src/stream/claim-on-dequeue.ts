import { readFileSync } from 'node:fs';
import { keys, type DequeueHook } from '#redis';
import type { WorkerIdentity } from '../event-log.port.js';
import { claimArgs } from './to-transition.js';

/** Lua that claims the calls of jobs that are taken: what comes before it makes the arguments of transition.lua out of them. */
export const CLAIM_ON_DEQUEUE = ['./claim-on-dequeue.lua', './transition.lua']
  .map((file) => readFileSync(new URL(file, import.meta.url), 'utf8'))
  .join('\n');

/** Claims with this token; a call that runs is not claimed again, so a job that comes twice does no harm. */
export function claimOnDequeue(claimant: WorkerIdentity, token: string): DequeueHook {
  return { lua: CLAIM_ON_DEQUEUE, args: [keys.cancelChannel(), ...claimArgs(claimant, token)].map(String) };
}
