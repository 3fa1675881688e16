import { RunningProcess } from '#contracts';
import { keys, redisNow, type RedisConnection } from '#redis';
import { StartupError } from '../startup-error.js';
import { VERSION } from '../version.js';
import { DataProtocol, OLDEST_COMPATIBLE, OLDEST_READER, PROTOCOL, refusalToStart } from './protocol.js';

/** Time without a heartbeat after which a process counts as gone. */
export const PROCESS_TTL_MS = 10_000;

export function describeProcess(kind: RunningProcess['kind'], id: string): RunningProcess {
  return { kind, id, version: VERSION, protocol: PROTOCOL, oldestCompatible: OLDEST_COMPATIBLE };
}

/** Running processes, by kind and id. */
export async function readRunningProcesses(redis: RedisConnection): Promise<RunningProcess[]> {
  const now = await redisNow(redis);
  const texts = await redis.zrangebyscore(keys.processes(), now - PROCESS_TTL_MS, '+inf');
  return texts.flatMap((text) => parsed(text)).sort((a, b) => `${a.kind} ${a.id}`.localeCompare(`${b.kind} ${b.id}`));
}

/** @throws StartupError, with the fix, if the process must not run beside the others, or on this data */
export async function checkCompatibility(redis: RedisConnection, own: RunningProcess): Promise<void> {
  const [others, data] = await Promise.all([readRunningProcesses(redis), readDataProtocol(redis)]);
  // A process of the same name is an earlier run of this one.
  const beside = others.filter(({ kind, id }) => kind !== own.kind || id !== own.id);
  const refusal = refusalToStart(own, beside, data);
  if (refusal !== undefined) throw new StartupError(refusal);
}

/** Records that this process runs, and the protocol of its data; removes processes that are gone. */
export async function registerProcess(redis: RedisConnection, own: RunningProcess): Promise<void> {
  const now = await writeHeartbeat(redis, own);
  await Promise.all([
    redis.zremrangebyscore(keys.processes(), 0, now - PROCESS_TTL_MS),
    raiseDataProtocol(redis, { version: own.version, protocol: own.protocol, oldestReader: OLDEST_READER }),
  ]);
}

/** Records that this process runs; returns the time. */
export async function writeHeartbeat(redis: RedisConnection, own: RunningProcess): Promise<number> {
  const now = await redisNow(redis);
  await redis.zadd(keys.processes(), now, JSON.stringify(own));
  return now;
}

export async function removeHeartbeat(redis: RedisConnection, own: RunningProcess): Promise<void> {
  await redis.zrem(keys.processes(), JSON.stringify(own));
}

/** Raises the protocol of the data. Of two concurrent processes the older may win, until the newer one registers again. */
async function raiseDataProtocol(redis: RedisConnection, own: DataProtocol): Promise<void> {
  const found = await readDataProtocol(redis);
  if (found === undefined || found.protocol < own.protocol) await redis.set(keys.dataProtocol(), JSON.stringify(own));
}

async function readDataProtocol(redis: RedisConnection): Promise<DataProtocol | undefined> {
  const text = await redis.get(keys.dataProtocol());
  return text === null ? undefined : DataProtocol.parse(JSON.parse(text));
}

function parsed(text: string): RunningProcess[] {
  const process = RunningProcess.safeParse(JSON.parse(text));
  return process.success ? [process.data] : [];
}
