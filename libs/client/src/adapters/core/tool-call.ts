import type { JsonValue } from '#contracts';
import { repairJson } from '../../loop/repair-json.js';

/** A tool call of a model. */
export interface ToolCall {
  readonly name: string;
  /** Arguments as an object, or as the model's JSON text. */
  readonly arguments: unknown;
  /** Id of the call by the model. Without one each execution is a separate call. */
  readonly id: string | undefined;
}

/** Tool call with arguments in the form of a submission. */
export interface SubmittableCall extends ToolCall {
  readonly arguments: Record<string, JsonValue> | string;
}

/** Submittable form of a model's tool call, with a warning for the model. */
export interface ReadCall {
  readonly call: SubmittableCall;
  /** Present if the text was invalid JSON and was repaired. */
  readonly warning?: string;
}

/**
 * Converts arguments into the form of a submission. An object stays one: stores of agents may change the order of its names,
 * and a repetition must equal the first submission. A text is repaired if it has one meaning. The gateway handles all else: its
 * error text explains the fault to the model.
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
