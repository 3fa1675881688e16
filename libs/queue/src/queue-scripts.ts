import { readFileSync } from 'node:fs';
import { LuaScript, type RedisConnection, type TakeScript } from '#redis';

/** Our scripts on BullMQ's keys: the command's name on a client, and how many of its arguments are keys. */
const SCRIPTS = { addJobs: 3, finishAndFetch: 7, giveBack: 5, returnStalled: 5 } as const;

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

/** finish-and-fetch.lua with what is done about the calls of the jobs that it takes; the parts see nothing of each other. */
export function composeTake({ lua }: TakeScript): LuaScript {
  const [shebang = '', ...fetch] = read('finish-and-fetch.lua').split('\n');
  const parts = [
    'local function finishAndFetch(KEYS, ARGV)',
    ...fetch,
    'end',
    'local function withTaken(CALLS, ARGV)',
    lua,
    'end',
    read('take.lua'),
  ];
  return new LuaScript([shebang, ...parts].join('\n'));
}

function read(file: string): string {
  return readFileSync(new URL(`./lua/${file}`, import.meta.url), 'utf8');
}
