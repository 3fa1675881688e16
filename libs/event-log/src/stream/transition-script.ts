import { LuaScript, type RedisConnection } from '#redis';
import { composeRun, type ScriptVariant, type Transition } from './transition.js';

const file = new URL('./transition.lua', import.meta.url);

/** Variants of one script body; Redis reads the flags from the first line. */
const SCRIPTS: Readonly<Record<ScriptVariant, LuaScript>> = {
  accept: LuaScript.load(file, '#!lua'),
  progress: LuaScript.load(file, '#!lua flags=allow-oom'),
};

/** Answer of one run: the Redis time in ms, an answer for each transition, and on request the history of the master that ran it. */
export interface RunAnswer {
  readonly now: number;
  readonly answers: readonly unknown[];
  readonly history?: string;
}

/** Runs all transitions in one script. */
export async function runTransitions(
  redis: RedisConnection,
  variant: ScriptVariant,
  transitions: readonly Transition[],
  withHistory = false,
): Promise<RunAnswer> {
  const { keys, args } = composeRun(transitions);
  const script = SCRIPTS[variant];
  if (!withHistory) return answerOf(await script.run(redis, keys, args));
  const { answer, history } = await script.runWithHistory(redis, keys, args);
  return { ...answerOf(answer), history };
}

function answerOf(reply: unknown): RunAnswer {
  if (!isList(reply)) throw new Error(`transition.lua answered ${typeof reply}; expected an array.`);
  const [now, ...answers] = reply;
  return { now: Number(now), answers };
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
