import { z } from 'zod';
import { ProblemError, type Call, type JsonValue } from '#contracts';
import { parseJsonBody } from '../../platform/http/json-body.js';
import { sampledIn } from './sampling-request.js';
import type { ElicitationForm, FormField } from './tool-call.js';

const PREFIX = 'input.';
/** Prefix of requests to the client's model. */
const SAMPLING = 'sampling.';
/** Name of the form field for a value that is not an object of fields. */
const VALUE = 'value';

const about = { title: z.string().optional(), description: z.string().optional() };
const length = z.number().int().min(0).optional();
const text = { ...about, type: z.literal('string'), default: z.string().optional() };
const choices = { ...about, type: z.literal('array'), minItems: length, maxItems: length, default: z.array(z.string()).optional() };
const Titled = z.array(z.object({ const: z.string(), title: z.string() })).min(1);
const Names = z.array(z.string()).min(1);
/** Fields that the protocol allows in forms. Other keywords are dropped: the given value is validated anyway. */
const Field = z.union([
  z.object({ ...text, oneOf: Titled }),
  z.object({ ...text, enum: Names, enumNames: z.array(z.string()).optional() }),
  z.object({
    ...text,
    enum: z.undefined().optional(),
    oneOf: z.undefined().optional(),
    minLength: length,
    maxLength: length,
    format: z.enum(['email', 'uri', 'date', 'date-time']).optional().catch(undefined),
  }),
  z.object({
    type: z.enum(['number', 'integer']),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    default: z.number().optional(),
    ...about,
  }),
  z.object({ type: z.literal('boolean'), default: z.boolean().optional(), ...about }),
  z.object({ ...choices, items: z.object({ type: z.literal('string'), enum: Names }) }),
  z.object({ ...choices, items: z.object({ anyOf: Titled }) }),
]);
const Flat = z.strictObject({
  $schema: z.string().optional(),
  ...about,
  type: z.literal('object'),
  properties: z.record(z.string(), Field).refine((properties) => Object.keys(properties).length > 0),
  required: z.array(z.string()).default([]),
  additionalProperties: z.boolean().optional(),
});

/** Layout of the form: the fields of an object, one field, or a text with JSON. */
type Layout =
  | { readonly kind: 'fields'; readonly properties: Record<string, FormField>; readonly required: string[] }
  | { readonly kind: 'field'; readonly field: FormField }
  | { readonly kind: 'json' };

function layoutOf(schema: unknown): Layout {
  const flat = Flat.safeParse(schema).data;
  if (flat !== undefined) return { kind: 'fields', properties: flat.properties, required: flat.required };
  const field = Field.safeParse(schema).data;
  return field === undefined ? { kind: 'json' } : { kind: 'field', field };
}

/** Name of the open request among the input requests of a call; a tool may request input repeatedly. Undefined if none is open. */
export function inputQuestion(call: Call): string | undefined {
  const { waiting } = call;
  if (waiting?.input === undefined) return undefined;
  const { attempt, sampling } = waiting.input;
  return `${sampling === undefined ? PREFIX : SAMPLING}${attempt}`;
}

/** Form with the tool's request for the client's user. */
export function inputForm({ tool, waiting }: Call): ElicitationForm {
  const layout = layoutOf(waiting?.input?.inputSchema);
  const message = `The tool ${tool} asks: ${waiting?.input?.prompt ?? 'it needs a value to go on'}`;
  const schema =
    layout.kind === 'fields'
      ? { properties: layout.properties, required: layout.required }
      : { properties: { [VALUE]: layout.kind === 'field' ? layout.field : jsonField(waiting?.input?.inputSchema) }, required: [VALUE] };
  return { mode: 'form', message, requestedSchema: { type: 'object', ...schema } };
}

function jsonField(schema: unknown): FormField {
  const schemaHint = schema === undefined ? '' : ` It has to fit the schema ${JSON.stringify(schema)}`;
  return { type: 'string', title: 'Value', description: `The value as JSON.${schemaHint}` };
}

/** `dismissed`: the user gave no value, and another person may. Also the meaning of `declined` if the tool needs a value. */
export type InputAnswer =
  | { readonly kind: 'dismissed' | 'declined'; readonly attempt: number }
  /** Answer of the client's model. */
  | { readonly kind: 'sampled'; readonly attempt: number; readonly value: JsonValue }
  | { readonly kind: 'given'; readonly attempt: number; readonly content: Readonly<Record<string, JsonValue>> };

const Response = z.looseObject({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.json()).nullish(),
});
const Question = /^(?<kind>input|sampling)\.(?<attempt>[1-9]\d{0,8})$/;

/** Undefined if the response is no answer to a request of that name. */
export function inputAnswer(question: string, response: unknown): InputAnswer | undefined {
  const { kind, attempt: number } = Question.exec(question)?.groups ?? {};
  const attempt = Number(number);
  if (kind === 'sampling') {
    const value = sampledIn(z.json().safeParse(response).data ?? null);
    return value === undefined ? undefined : { kind: 'sampled', attempt, value };
  }
  const { data } = Response.safeParse(response);
  if (data === undefined || kind === undefined) return undefined;
  if (data.action === 'accept') return { kind: 'given', attempt, content: data.content ?? {} };
  return { kind: data.action === 'decline' ? 'declined' : 'dismissed', attempt };
}

/** Attempt that requested sampling. Undefined for names of other requests. */
export function samplingAttempt(question: string): number | undefined {
  const { kind, attempt } = Question.exec(question)?.groups ?? {};
  return kind === 'sampling' ? Number(attempt) : undefined;
}

/** Answer to the latest request among the responses. */
export function inputAnswerIn(responses: Readonly<Record<string, unknown>> | undefined): InputAnswer | undefined {
  const answers = Object.entries(responses ?? {}).flatMap(([question, response]) => inputAnswer(question, response) ?? []);
  return answers.toSorted((a, b) => a.attempt - b.attempt).at(-1);
}

/**
 * Value in a form of this schema.
 * @throws ProblemError `invalid_request` for a missing value or invalid JSON
 */
export function valueOf(schema: unknown, content: Readonly<Record<string, JsonValue>>): JsonValue {
  const { kind } = layoutOf(schema);
  if (kind === 'fields') return { ...content };
  const value = content[VALUE];
  if (value === undefined) throw new ProblemError('invalid_request', `Expected the field ${VALUE} in the form; the call goes on waiting`);
  if (kind === 'field') return value;
  try {
    return z.json().parse(parseJsonBody(typeof value === 'string' ? value : JSON.stringify(value)));
  } catch {
    throw new ProblemError('invalid_request', 'Expected the value as JSON; received other text. The call goes on waiting');
  }
}
