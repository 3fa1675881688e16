import { LIMITS, TURN_LIMITS } from '#contracts';
import type { ModelAnswer, ModelToolCall } from '../model/model.port.js';
import type { RecordedToolCall } from '../journal/recorded-turn.js';

/** Limits of a stored answer, since a model or a faulty server may send anything. */
export const ANSWER_LIMITS = { textCharacters: 262_144, argumentCharacters: 262_144, idCharacters: 128, shownNames: 50 } as const;

const TEXT_CUT = '\n[The rest of this answer was too long and is left out]';

export interface KnownTools {
  /** Names of the tools offered to the model. */
  readonly offered: readonly string[];
  /** True if other callers have a tool of that name. */
  readonly exists: (name: string) => boolean;
}

export interface ReadAnswer {
  readonly text: string;
  readonly toolCalls: RecordedToolCall[];
  readonly leftOut: number;
}

/**
 * Makes an answer of the model safe to store and to repeat: bounded, every call with an id of its own, arguments that are an
 * object. A call that cannot run gets a refusal for the model. Pure, and never throws.
 */
export function readAnswer({ text, toolCalls }: Pick<ModelAnswer, 'text' | 'toolCalls'>, tools: KnownTools): ReadAnswer {
  const ids = new Set<string>();
  const calls = toolCalls.slice(0, TURN_LIMITS.toolCalls).map((call, index) => readCall(call, index, ids, tools));
  const cut = text.length > ANSWER_LIMITS.textCharacters;
  return {
    text: cut ? text.slice(0, ANSWER_LIMITS.textCharacters).replace(/[\uD800-\uDBFF]$/, '') + TEXT_CUT : text,
    toolCalls: calls,
    leftOut: toolCalls.length - calls.length,
  };
}

function readCall(call: ModelToolCall, index: number, ids: Set<string>, tools: KnownTools): RecordedToolCall {
  const isUsable = /^[A-Za-z0-9_.:-]+$/.test(call.id) && call.id.length <= ANSWER_LIMITS.idCharacters;
  const isTwice = isUsable && ids.has(call.id);
  const toolCallId = isUsable && !isTwice ? call.id : freeId(index, ids);
  ids.add(toolCallId);
  const tool = call.name.slice(0, TURN_LIMITS.nameCharacters).replace(/[^A-Za-z0-9_-]/g, '_') || 'unnamed';
  const args = argumentsOf(call.arguments);
  const refusal = isTwice
    ? `The id ${call.id} was used for two tool calls of one turn. Give every tool call an id of its own.`
    : !tools.offered.includes(call.name)
      ? unknownTool(call.name, tools)
      : args === undefined
        ? `Expected arguments as a JSON object of at most ${LIMITS.jsonDepth} levels; received another value, or one that is too deep or too long.`
        : undefined;
  return { toolCallId, tool, arguments: args ?? '{}', ...(refusal === undefined ? {} : { refusal }) };
}

function freeId(index: number, ids: ReadonlySet<string>): string {
  for (let n = index; ; n += 1) if (!ids.has(`call-${n}`)) return `call-${n}`;
}

function unknownTool(name: string, { offered, exists }: KnownTools): string {
  const known = offered.slice(0, ANSWER_LIMITS.shownNames).join(', ') || 'none';
  const shown = name.slice(0, TURN_LIMITS.nameCharacters);
  return exists(name)
    ? `tool \`${shown}\` is not enabled for this sub-agent. Available: ${known}.`
    : `Tool not found: ${shown}. Available: ${known}.`;
}

/** Arguments as JSON text. Models send an empty text for a call without arguments. */
function argumentsOf(text: string): string | undefined {
  if (text.trim() === '') return '{}';
  if (text.length > ANSWER_LIMITS.argumentCharacters) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return isDeeper(value, LIMITS.jsonDepth) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** True for nesting beyond the limit. `JSON.parse` reads any depth, but the next request is written by recursion. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}
