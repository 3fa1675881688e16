import { setTimeout as sleep } from 'node:timers/promises';
import { createRedis } from '#redis';
import { cpuOf, residentOf } from './processes.js';
import { runLoad, type Contender, type Run } from './load.js';

/** Run with its cost by process. */
export interface Measured extends Run {
  /** CPU µs a call, by process, until all of them were quiet again. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Redis commands a call, those inside scripts counted too. */
  readonly commands: number;
  /** Resident MiB after the run, by process. */
  readonly resident: Readonly<Record<string, number>>;
}

/** How long processes must have been quiet, and how much of a core all of them may use meanwhile. */
const QUIET = { ms: 700, share: 0.1, deadlineMs: 60_000 } as const;

export async function measure(contender: Contender, calls: number, inFlight: number): Promise<Measured> {
  const { processes, redisUrl } = contender;
  const commandsBefore = await commandsOf(redisUrl);
  const cpuBefore = mapValues(processes, cpuOf);
  const run = await runLoad(contender, calls, inFlight);
  await waitForQuiet([contender]);
  const cpu = mapValues(processes, (pid, name) => (cpuOf(pid) - (cpuBefore[name] ?? 0)) / calls);
  const commands = ((await commandsOf(redisUrl)) - commandsBefore) / calls;
  return { ...run, cpu, commands, resident: mapValues(processes, residentOf) };
}

/** CPU µs a call of all server processes. */
export function serverCpu({ cpu }: Pick<Measured, 'cpu'>): number {
  return Object.entries(cpu).reduce((sum, [name, micros]) => (name === 'client' ? sum : sum + micros), 0);
}

/** Waits until none has work of its own left, such as rows that lag behind the log. Says so and goes on where that takes long. */
export async function waitForQuiet(contenders: readonly Contender[]): Promise<void> {
  const servers = contenders.flatMap(({ processes }) => Object.values(processes)).filter((pid) => pid !== process.pid);
  const used = () => servers.reduce((sum, pid) => sum + cpuOf(pid), 0);
  const deadline = performance.now() + QUIET.deadlineMs;
  for (let before = used(); performance.now() < deadline;) {
    await sleep(QUIET.ms);
    const now = used();
    if ((now - before) / 1000 < QUIET.ms * QUIET.share * contenders.length) return;
    before = now;
  }
  console.error(`not quiet within ${QUIET.deadlineMs} ms`);
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
