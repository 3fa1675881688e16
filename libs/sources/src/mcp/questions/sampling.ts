import { isSpecType, ProtocolError, ProtocolErrorCode, type CreateMessageResult } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { LIMITS, type JsonSchema, type JsonValue } from '#contracts';

/** Question to the model of a client on behalf of a server. */
export interface SamplingQuestion {
  readonly prompt: string;
  readonly inputSchema: JsonSchema;
  readonly sampling: JsonValue;
}

/** Why a model is not asked for a call whose client offers none. */
export const NOT_OFFERED = 'sampling/createMessage is not offered to it';
/** Revision 2025-11-25: the user of the client rejected the question. */
const REJECTED = -1;
const SHOWN_CHARS = 1_000;
/** Names the server to the client, which shows its user what its model is asked. */
const SOURCE_META = 'io.toolyard/source';

/** A result of `sampling/createMessage` without tools, as far as a schema for people says it. */
const RESULT: JsonSchema = {
  type: 'object',
  properties: {
    role: { enum: ['user', 'assistant'] },
    content: { type: 'object', properties: { type: { enum: ['text', 'image', 'audio'] } }, required: ['type'] },
    model: { type: 'string' },
    stopReason: { type: 'string' },
  },
  required: ['role', 'content', 'model'],
};

/** Context of other servers is never requested, since it may come from unrelated sources. */
const Params = z.object({
  messages: z.array(z.unknown()).min(1),
  modelPreferences: z.unknown().optional(),
  systemPrompt: z.string().optional(),
  temperature: z.number().optional(),
  maxTokens: z.number().int().min(1),
  stopSequences: z.array(z.string()).optional(),
  metadata: z.unknown().optional(),
  tools: z.undefined().optional(),
  toolChoice: z.undefined().optional(),
});

/** The question of a `sampling/createMessage`; a text that says why it may not be asked. */
export function samplingQuestion(source: string, params: unknown): SamplingQuestion | string {
  const asked = Params.safeParse(params).data;
  if (asked === undefined || !isSpecType.CreateMessageRequestParams(asked))
    return 'expected messages and `maxTokens`, and no tools for the model';
  const sampling = z.json().parse({ ...asked, _meta: { [SOURCE_META]: source } });
  const bytes = Buffer.byteLength(JSON.stringify(sampling));
  if (bytes > LIMITS.samplingBytes) return `its question has ${bytes} bytes; expected at most ${LIMITS.samplingBytes}`;
  const shown = JSON.stringify(asked.messages).slice(0, SHOWN_CHARS).toWellFormed();
  return { prompt: `The MCP server ${source} asks the model of the MCP client: ${shown}`, inputSchema: RESULT, sampling };
}

/** Answer of the model; undefined if the value is not a sampling result. */
export function sampledIn(value: JsonValue | undefined): CreateMessageResult | undefined {
  return isSpecType.CreateMessageResult(value) ? value : undefined;
}

/** The answer to a server of a revision before 2026-07-28. @throws ProtocolError where no model answered */
export function samplingResult({ value, refused }: { readonly value?: JsonValue | undefined; readonly refused?: string | undefined }) {
  if (refused !== undefined) {
    const code = refused === NOT_OFFERED ? ProtocolErrorCode.MethodNotFound : ProtocolErrorCode.InvalidParams;
    throw new ProtocolError(code, `Refused: ${refused}`);
  }
  const result = sampledIn(value);
  if (result === undefined) throw new ProtocolError(REJECTED, 'The MCP client gave no answer of its model');
  return result;
}
