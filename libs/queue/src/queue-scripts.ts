import { readFileSync } from 'node:fs';
import type { RedisConnection } from '#redis';

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
    const lua = readFileSync(new URL(`./lua/${file}`, import.meta.url), 'utf8');
    client.defineCommand(`toolyard:${script}`, { lua, numberOfKeys });
  }
}
