import { z } from 'zod';
import { Json, JsonSchema, LIMITS, type JsonValue } from '#contracts';
import type { Resumed } from '#tool-sdk';
import { NOT_OFFERED, samplingQuestion, type SamplingQuestion } from './sampling.js';

/** Methods of questions that a server may send during a call. */
export const AskedMethod = z.enum(['elicitation/create', 'sampling/createMessage']);

/** A question of a server as it came. */
export interface Asked {
  readonly method: z.output<typeof AskedMethod>;
  readonly params: unknown;
}

/** Question to a person on behalf of a server. */
export interface Question {
  readonly prompt: string;
  readonly inputSchema: JsonSchema;
}

/** The result of `elicitation/create`. */
export type Answer =
  | { action: 'accept'; content?: Record<string, string | number | boolean | string[]> }
  | { action: 'decline' | 'cancel' };

const Form = z.object({
  mode: z.literal('form').optional(),
  message: z.string(),
  requestedSchema: z.looseObject({
    type: z.literal('object'),
    properties: z.record(z.string(), z.looseObject({ type: z.string(), title: z.string().optional(), description: z.string().optional() })),
  }),
});
const Url = z.object({ mode: z.literal('url'), message: z.string(), url: z.url({ protocol: /^https?$/ }).max(1_000) });
const Content = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

/** Revision 2026-07-28: a form must not ask for secrets. Its text says what it asks for. */
const SECRETS = /pass(?:word|phrase|code)|\bsecret|(?:api|access|private)[-_ ]?(?:key|token)|credential|card[-_ ]?number|\bcvv\b/i;

/** `sampling`: whether the client that made the call offers its model. A text that says why a question may not be asked. */
export function questionOf(source: string, { method, params }: Asked, sampling: boolean): Question | SamplingQuestion | string {
  if (method === 'elicitation/create') return elicitationOf(source, params);
  return sampling ? samplingQuestion(source, params) : NOT_OFFERED;
}

/**
 * The question of an `elicitation/create`; a text that says why it is declined where it may not be asked. An address is
 * shown and never opened.
 */
function elicitationOf(source: string, params: unknown): Question | string {
  const url = Url.safeParse(params).data;
  if (url !== undefined)
    return {
      prompt: `The MCP server ${source} asks to open ${url.url} (${url.message}). Look at the address before you open it. Done?`,
      inputSchema: { type: 'boolean', title: 'I have opened it and done what it asks', default: false },
    };
  const form = Form.safeParse(params).data;
  if (form === undefined) return 'it is neither a form nor an address';
  const fields = Object.entries(form.requestedSchema.properties);
  const secret = fields.find(
    ([name, { title = '', description = '', ...more }]) => more['format'] === 'password' || SECRETS.test(`${name} ${title} ${description}`),
  );
  if (secret !== undefined || SECRETS.test(form.message)) return 'a form must not ask for secrets';
  const schema = JsonSchema.safeParse(form.requestedSchema).data;
  if (schema === undefined || Buffer.byteLength(JSON.stringify(schema)) > LIMITS.inputSchemaBytes)
    return `its schema has more than ${LIMITS.inputSchemaBytes} bytes`;
  return { prompt: `The MCP server ${source} asks: ${form.message}`, inputSchema: schema };
}

/** Outcome of a question. Without `value`, `declined` and `refused`: no answer came in time. */
export interface Given {
  readonly value?: JsonValue | undefined;
  readonly declined?: boolean | undefined;
  /** Why it may not be asked. */
  readonly refused?: string | undefined;
}

export function givenAnswer({ reason, input, declined }: Resumed): Given {
  if (reason !== 'input') return {};
  return { ...(input === undefined ? {} : { value: input }), ...(declined === true ? { declined } : {}) };
}

export function answerOf(params: unknown, { value, declined, refused }: Given): Answer {
  if (declined === true || refused !== undefined) return { action: 'decline' };
  if (value === undefined) return { action: 'cancel' };
  if (Url.safeParse(params).success) return { action: value === true ? 'accept' : 'decline' };
  const content = Content.safeParse(value).data;
  return content === undefined ? { action: 'decline' } : { action: 'accept', content };
}

/** Requests to a model of the operator, and tokens, read and written. */
export const Sampled = z.object({ calls: z.number().int(), tokens: z.number().int() });
export type Sampled = z.output<typeof Sampled>;

/** Revision 2026-07-28: the server holds nothing. The call is repeated with the answers, by any worker. */
export const RoundState = z.object({
  kind: z.literal('mcp.rounds'),
  round: z.number().int(),
  requestState: z.string().optional(),
  responses: z.record(z.string(), Json),
  sampled: Sampled.optional(),
  /** The first one is open. */
  left: z.array(z.object({ key: z.string(), method: AskedMethod, params: Json })),
});
export type RoundState = z.output<typeof RoundState>;

/** State that a suspended call stores about a server's questions. */
export const AskedState = z.discriminatedUnion('kind', [
  RoundState,
  /** Question before revision 2026-07-28: the server waits, on the connection of one worker. */
  z.object({
    kind: z.literal('mcp.open'),
    connection: z.string(),
    method: AskedMethod,
    params: Json,
    tries: z.number().int(),
    given: z.object({ value: Json.optional(), declined: z.boolean().optional() }).optional(),
    /** The state of the task that asks, where it may outlive the connection. */
    task: Json.optional(),
  }),
]);
export type AskedState = z.output<typeof AskedState>;
