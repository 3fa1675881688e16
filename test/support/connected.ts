import type { RedisConnection } from '#redis';
import { eventually } from './eventually.js';

/** Resolves when its connections stand. The first commands wait for them, but not for as long as a busy machine may need. */
export async function connected<T extends { readonly connections: readonly RedisConnection[] }>(it: T): Promise<T> {
  await eventually(() => it.connections.every(({ status }) => status === 'ready'), 'the connections to stand');
  return it;
}
