import { readFileSync } from 'node:fs';
import { LuaScript, type RedisConnection } from '#redis';

/** Our scripts on BullMQ's keys: the command's name on a client, and how many of its arguments are keys. */
const SCRIPTS = { addJobs: 3, completeAndDequeue: 7, requeueOwned: 5, requeueStalled: 5 } as const;

export type QueueScript = keyof typeof SCRIPTS;

export function commandOf(script: QueueScript): string {
  return `toolyard:${script}`;
}

/** Once for each client that will run them. */
export function defineQueueScripts(client: RedisConnection): void {
  for (const [script, numberOfKeys] of Object.entries(SCRIPTS)) {
    const file = `${script.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.lua`;
    client.defineCommand(`toolyard:${script}`, { lua: read(file), numberOfKeys });
  }
}

/** What a worker runs: it ends jobs and takes others, with what is done about their calls, or waits for some to be handed to it. */
export function composeTake(withTaken: string): LuaScript {
  return compose('#!lua flags=allow-oom', taking(withTaken), 'dequeue-or-register.lua');
}

/** What adds jobs where workers may wait for some to be handed to them. */
export function composeHandOver(withTaken: string): LuaScript {
  return compose('#!lua', { 'addJobs(KEYS, ARGV)': read('add-jobs.lua'), ...taking(withTaken) }, 'direct-dispatch.lua');
}

/** Where the notes of workers stand that run the same scripts for what they take: others would not understand them. */
export function idleKeyOf(withTaken: string): string {
  return `idle:${composeHandOver(withTaken).sha.slice(0, 12)}`;
}

function taking(withTaken: string): Record<string, string> {
  return {
    'finishAndFetch(KEYS, ARGV)': read('complete-and-dequeue.lua'),
    'withTaken(CALLS, ARGV)': withTaken,
    'take(KEYS, OWN, ARGV)': read('dequeue-and-claim.lua'),
  };
}

/** One script of several: each is a function of its own, so that they see nothing of each other's names. */
function compose(shebang: string, functions: Record<string, string>, main: string): LuaScript {
  const parts = Object.entries(functions).flatMap(([head, body]) => [`local function ${head}`, body.replace(/^#!.*/, ''), 'end']);
  return new LuaScript([shebang, ...parts, read(main)].join('\n'));
}

function read(file: string): string {
  return readFileSync(new URL(`./lua/${file}`, import.meta.url), 'utf8');
}
