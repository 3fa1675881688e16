import { hasMoreParts, LIMITS, parseExactJson, type Violation } from '#contracts';
import { applyShape, dropUnknown, type ArgumentShape } from './argument-shape.js';
import { cloneJson } from './clone-json.js';
import type { Check } from './schema-compiler.js';
import { describeValue } from './violations.js';

export type PreparedArguments =
  | { ok: true; args: Record<string, unknown>; purpose?: string }
  | { ok: false; message: string; errors: Violation[] };

/** Argument with the reason for a call, from agents of one family. Stored beside the call, and never passed to the tool. */
const PURPOSE_KEY = '__tool_use_purpose';
const PURPOSE_CHARACTERS = 1_024;
const FENCED_OBJECT = /^```[a-z0-9]*\s*\{/i;
const FENCED_ARRAY = /^```[a-z0-9]*\s*(\[[^]*\])\s*```$/i;
const VIOLATIONS_LISTED = 100;

/**
 * Converts a model's arguments into those of a handler, without changing the input:
 * 1. parses a text as JSON (empty text: no arguments), without rounding numbers, or uses it as the tool's raw argument
 * 2. copies the value, and rejects hostile keys and depth
 * 3. removes the purpose; resolves aliases and nulls; removes unknown arguments if extras are tolerated
 * 4. checks against the schema, which adds defaults
 */
export function prepareArguments(raw: unknown, shape: ArgumentShape, check: Check, tolerant = false): PreparedArguments {
  const parsed = typeof raw === 'string' ? parseText(raw, shape.rawArgument) : { value: raw };
  if ('fault' in parsed) return refused([parsed.fault]);

  const faults: Violation[] = [];
  const args = cloneJson(parsed.value, faults);
  if (faults.length > 0) return refused(faults);
  if (!isRecord(args)) return refused([{ pointer: '', message: `Arguments must be an object, instead found ${describeValue(args)}` }]);

  const purpose = args[PURPOSE_KEY];
  delete args[PURPOSE_KEY];
  applyShape(args, shape);
  if (tolerant) dropUnknown(args, shape);
  const errors = check(args);
  if (errors.length > 0) return refused(errors);
  return { ok: true, args, ...(typeof purpose === 'string' ? { purpose: purpose.slice(0, PURPOSE_CHARACTERS) } : {}) };
}

/**
 * Parses a text that starts like a JSON object as JSON only: broken JSON must never run as, for example, a shell command. Also
 * parses an object in a Markdown fence, and an object inside a JSON text, since models write both. A text that starts like a
 * JSON array may be a command, such as `[ -f x ] && ls`, since no tool has an array as arguments.
 */
function parseText(text: string, rawArgument: string | undefined): { value: unknown } | { fault: Violation } {
  const trimmed = text.trim();
  if (trimmed === '') return { value: {} };
  if (isFencedJson(trimmed))
    return { fault: { pointer: '', message: 'the arguments are not valid JSON: give the object itself, without the fence' } };
  if (/^[{[]/.test(trimmed) && hasMoreParts(trimmed, LIMITS.jsonParts))
    return { fault: { pointer: '', message: `expected at most ${LIMITS.jsonParts} members and items in all` } };
  let value: unknown;
  try {
    value = parseExactJson(trimmed);
  } catch (error) {
    if (rawArgument !== undefined && !trimmed.startsWith('{')) return { value: { [rawArgument]: trimmed } };
    return {
      fault: { pointer: '', message: `the arguments are not valid JSON: ${error instanceof Error ? error.message : String(error)}` },
    };
  }
  if (typeof value === 'string' && isJsonOfContainer(value.trim())) return parseText(value, undefined);
  if (Array.isArray(value)) return { value };
  if (rawArgument !== undefined && !isRecord(value)) return { value: { [rawArgument]: typeof value === 'string' ? value : trimmed } };
  return { value };
}

function isJsonOfContainer(text: string): boolean {
  return text.startsWith('{') || isFencedJson(text) || isJsonArray(text);
}

function isFencedJson(text: string): boolean {
  return FENCED_OBJECT.test(text) || isJsonArray(FENCED_ARRAY.exec(text)?.[1] ?? '');
}

function isJsonArray(text: string): boolean {
  if (!text.startsWith('[')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function refused(errors: Violation[]): PreparedArguments {
  const listed = errors.slice(0, VIOLATIONS_LISTED);
  const lines = listed.map(({ pointer, message }) =>
    pointer === '' || message.includes(`'${pointer.slice(1)}'`) ? message : `${pointer}: ${message}`,
  );
  if (errors.length > listed.length) lines.push(`… and ${errors.length - listed.length} more`);
  const text = lines.length === 1 ? ` ${lines.join()}` : lines.map((line) => `\n- ${line}`).join('');
  return { ok: false, message: `Invalid arguments:${text}`, errors: listed };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
