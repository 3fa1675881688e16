import { createRedis } from '#redis';
import { cpuOf, residentOf } from './processes.js';
import { runLoad, type Contender, type Run } from './load.js';

/** One run, with what it cost by process. */
export interface Measured extends Run {
  /** CPU µs a call, by process. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Redis commands a call, those inside scripts counted too. */
  readonly commands: number;
  /** Resident MiB after the run, by process. */
  readonly resident: Readonly<Record<string, number>>;
}

export async function measure(contender: Contender, calls: number, inFlight: number): Promise<Measured> {
  const { processes, redisUrl } = contender;
  const commandsBefore = await commandsOf(redisUrl);
  const cpuBefore = mapValues(processes, cpuOf);
  const run = await runLoad(contender, calls, inFlight);
  const cpu = mapValues(processes, (pid, name) => (cpuOf(pid) - (cpuBefore[name] ?? 0)) / calls);
  const commands = ((await commandsOf(redisUrl)) - commandsBefore) / calls;
  return { ...run, cpu, commands, resident: mapValues(processes, residentOf) };
}

/** All commands a server has run so far, the script calls and the commands in them alike. */
async function commandsOf(redisUrl: string): Promise<number> {
  const redis = createRedis(redisUrl);
  const text = await redis.info('commandstats');
  redis.disconnect();
  return [...text.matchAll(/calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

export function mapValues<T, U>(record: Readonly<Record<string, T>>, change: (value: T, name: string) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}
