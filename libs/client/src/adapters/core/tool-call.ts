import type { JsonValue } from '#contracts';

/** A tool call of a model. */
export interface ToolCall {
  readonly name: string;
  /** An object, or the JSON text that the model wrote. */
  readonly arguments: unknown;
  /** The model's id of the call. Without one each execution is a call of its own. */
  readonly id: string | undefined;
}

/**
 * Arguments as a submission takes them. An object stays one: stores of agents may change the order of its names, and a repetition
 * must be equal to the first submission. All else is left to the gateway, whose error text tells the model what is wrong.
 */
export function argumentsOf(value: unknown): Record<string, JsonValue> | string {
  if (typeof value === 'string' || isObject(value)) return value;
  return JSON.stringify(value ?? {});
}

function isObject(value: unknown): value is Record<string, JsonValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
