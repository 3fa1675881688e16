import type { JsonValue } from '#contracts';
import { repairJson } from '../../loop/repair-json.js';

/** A tool call of a model. */
export interface ToolCall {
  readonly name: string;
  /** An object, or the JSON text that the model wrote. */
  readonly arguments: unknown;
  /** The model's id of the call. Without one each execution is a call of its own. */
  readonly id: string | undefined;
}

/** A tool call with the arguments that a submission takes. */
export interface SubmittableCall extends ToolCall {
  readonly arguments: Record<string, JsonValue> | string;
}

/** What is submitted of a model's tool call, and what to tell the model of it. */
export interface ReadCall {
  readonly call: SubmittableCall;
  /** The text was no valid JSON and was repaired. */
  readonly warning?: string;
}

/**
 * The call with arguments as a submission takes them. An object stays one: stores of agents may change the order of its names, and a repetition
 * must be equal to the first submission. A text is repaired where it has one meaning. All else is left to the gateway, whose
 * error text tells the model what is wrong.
 */
export function readCall(call: ToolCall): ReadCall {
  const value = call.arguments;
  if (isObject(value)) return { call: { ...call, arguments: value } };
  if (typeof value !== 'string') return { call: { ...call, arguments: JSON.stringify(value ?? {}) } };
  const repaired = repairJson(value);
  if (repaired === undefined) return { call: { ...call, arguments: value } };
  return { call: { ...call, arguments: repaired.json }, warning: repaired.warning };
}

export function isObject(value: unknown): value is Record<string, JsonValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
