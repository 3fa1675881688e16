import { LuaScript, type RedisConnection, type ReplicaWait } from '#redis';
import { composeRun, type ScriptVariant, type Transition } from './transition.js';

const file = new URL('./transition.lua', import.meta.url);

/** Built from one body; Redis reads the flags from the first line. */
const SCRIPTS: Readonly<Record<ScriptVariant, LuaScript>> = {
  accept: LuaScript.load(file, '#!lua'),
  progress: LuaScript.load(file, '#!lua flags=allow-oom'),
};

/** Answer of one run: the Redis time in ms, an answer for each transition, and whether enough replicas have it all. */
export interface RunAnswer {
  readonly now: number;
  readonly answers: readonly unknown[];
  readonly replicated: boolean;
}

/** Runs the transitions in one script. `wait` adds a WAIT for replicas behind it, on the same connection. */
export async function runTransitions(
  redis: RedisConnection,
  variant: ScriptVariant,
  transitions: readonly Transition[],
  wait?: ReplicaWait,
): Promise<RunAnswer> {
  const { keys, args } = composeRun(transitions);
  if (wait === undefined) return answerOf(await SCRIPTS[variant].run(redis, keys, args), true);
  const { answer, confirmed } = await SCRIPTS[variant].runAndWait(redis, keys, args, wait);
  return answerOf(answer, confirmed >= wait.replicas);
}

function answerOf(reply: unknown, replicated: boolean): RunAnswer {
  if (!isList(reply)) throw new Error(`transition.lua answered ${typeof reply}; expected an array.`);
  const [now, ...answers] = reply;
  return { now: Number(now), answers, replicated };
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
