import { STATS } from '#contracts';
import { keys, LuaScript, type RedisConnection } from '#redis';
import { SEGMENT } from '../postings/postings.js';
import { FINE, GROUP_LEVELS, keyIndexOf } from '../stats/slots.js';
import type { Command } from './draft.js';

/** Raised when what is stored takes a form that older code cannot read; the projection is then built anew from the log. */
export const PROJECTION_FORMAT = '1';

/** How far the projection of a partition has come in its log. */
export interface ViewState {
  readonly epoch: number;
  readonly seq: number;
  /** Of the entry at `seq`; empty at the beginning. */
  readonly mark: string;
}

/** Undefined: there is none of this format, or it is being built anew. */
export async function readViewState(redis: RedisConnection, partition: string): Promise<ViewState | undefined> {
  const [format, epoch, seq, mark] = await redis.hmget(keys.view(partition), 'f', 'e', 's', 'm');
  return format === PROJECTION_FORMAT ? { epoch: Number(epoch), seq: Number(seq), mark: mark ?? '' } : undefined;
}

const APPLY = LuaScript.load(new URL('apply.lua', import.meta.url));

/** Whether the batch was applied; if not, somebody else has moved the projection meanwhile. */
export async function applyBatch(
  redis: RedisConnection,
  partition: string,
  from: ViewState,
  to: Pick<ViewState, 'seq' | 'mark'>,
  commands: readonly Command[],
): Promise<boolean> {
  const names = [keys.view(partition)];
  const places = new Map([[keys.view(partition), 1]]);
  const args: (string | number | Buffer)[] = [PROJECTION_FORMAT, from.epoch, from.seq, to.seq, to.mark];
  for (const { name, key, args: own } of commands) {
    let place = places.get(key);
    if (place === undefined) places.set(key, (place = names.push(key)));
    args.push(name, place, own.length, ...own);
  }
  return (await APPLY.run(redis, names, args)) === 1;
}

/** KEYS[1] view · ARGV format, epoch, seq of the projection that shall go. Only that one: another may have taken its place. */
const RETIRE = new LuaScript(`#!lua
local view = redis.call('HMGET', KEYS[1], 'f', 'e', 's')
if view[1] == ARGV[1] and view[2] == ARGV[2] and view[3] == ARGV[3] then redis.call('HDEL', KEYS[1], 'f') end`);

/** KEYS[1] view, the others go, unless a projection of this format is there again. */
const DROP = new LuaScript(`#!lua
if redis.call('HGET', KEYS[1], 'f') == ARGV[1] then return 0 end
for at = 2, #KEYS do redis.call('UNLINK', KEYS[at]) end
return 1`);

/** KEYS[1] view, KEYS[2] open · ARGV format, epoch */
const BEGIN = new LuaScript(`#!lua
if redis.call('HGET', KEYS[1], 'f') == ARGV[1] then return end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('HSET', KEYS[1], 'f', ARGV[1], 'e', ARGV[2], 's', '0', 'm', '')`);

const KEYS_AT_ONCE = 200;

/** From now on this projection counts for nobody; `beginAnew` may follow at any time, by anyone. */
export async function retire(redis: RedisConnection, partition: string, state: ViewState): Promise<void> {
  await RETIRE.run(redis, [keys.view(partition)], [PROJECTION_FORMAT, state.epoch, state.seq]);
}

/**
 * Drops what is left of an older projection and begins one at the start of the log. Safe to run twice, at once and after
 * a stop in the middle: nothing is dropped any more once one has begun.
 */
export async function beginAnew(redis: RedisConnection, partition: string, epoch: number): Promise<void> {
  const view = keys.view(partition);
  const counts = await redis.hgetall(view);
  for (const [field, count] of Object.entries(counts)) {
    if (!field.startsWith('n:')) continue;
    const old = keysOf(partition, field.slice(2), Number(count));
    for (let at = 0; at < old.length; at += KEYS_AT_ONCE) {
      const dropped = await DROP.run(redis, [view, ...old.slice(at, at + KEYS_AT_ONCE)], [PROJECTION_FORMAT]);
      if (dropped !== 1) return;
    }
  }
  await BEGIN.run(redis, [view, keys.viewOpen(partition)], [PROJECTION_FORMAT, epoch]);
}

/** Every key of a tenant in a partition; numbers that are older have ended by themselves. */
function keysOf(partition: string, tenantId: string, calls: number): string[] {
  const found = [keys.viewLive(partition, tenantId), keys.viewSessions(partition, tenantId), keys.viewRecentSessions(partition, tenantId)];
  for (let segment = 0; segment * SEGMENT < calls; segment += 1) {
    found.push(
      keys.viewRecords(partition, tenantId, segment),
      keys.viewPostings(partition, tenantId, segment),
      keys.viewSignatures(partition, tenantId, segment),
    );
  }
  const now = Date.now();
  for (const level of [FINE, ...GROUP_LEVELS]) {
    const oldest = keyIndexOf(level, now - STATS.keptMs) - 1;
    for (let index = oldest - 1; index <= keyIndexOf(level, now) + 1; index += 1) {
      for (const kind of ['tool', 'fail'] as const) found.push(keys.viewNumbers(partition, tenantId, kind, level.name, index));
    }
  }
  return found;
}
