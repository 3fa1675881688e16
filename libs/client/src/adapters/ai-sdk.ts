import type { ToolyardClient } from '../toolyard-client.js';
import { listAgentTools, type AgentTool, type ToolChoice } from './core/agent-session.js';
import { followToolCall } from './core/run-tool-call.js';
import { textOf, type ToolAnswer, type ToolProgress } from './core/tool-answer.js';

export type { ToolChoice } from './core/agent-session.js';
export type { ToolAnswer, ToolProgress } from './core/tool-answer.js';

/** Values of a tool of the AI SDK: steps, which the SDK shows as preliminary results, then the answer. */
export type ToolOutput = ToolProgress | ToolAnswer;

/** Tool in the shape of `dynamicTool` of the AI SDK, versions 6 and 7. */
export interface AiSdkTool {
  readonly type: 'dynamic';
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
  execute(input: unknown, options: { readonly toolCallId: string; readonly abortSignal?: AbortSignal }): AsyncIterable<ToolOutput>;
  toModelOutput(options: { readonly output: unknown }): AiSdkModelOutput;
}

/** Output for the model, in the parts that both versions know. */
export type AiSdkModelOutput =
  | { type: 'text' | 'error-text'; value: string }
  | { type: 'content'; value: ({ type: 'text'; text: string } | { type: 'image-data'; data: string; mediaType: string })[] };

/** Schema that accepts any input: the gateway validates it, and its error texts help the model. */
export interface AiSdkSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'toolyard';
    validate(value: unknown): { readonly value: unknown };
  };
}

/**
 * Tools of a session as a `ToolSet` for `generateText`, `streamText` and agents of the AI SDK, versions 6 and 7.
 *
 * The abort signal of the SDK cancels the call. Denied, failed and rejected calls are error results that the model reads.
 *
 * @example `await generateText({ model, prompt, tools: await toolyardTools(client, { sessionId }) })`
 */
export async function toolyardTools(
  client: Pick<ToolyardClient, 'calls' | 'tools'>,
  choice: ToolChoice,
): Promise<Record<string, AiSdkTool>> {
  const tools = await listAgentTools(client, choice);
  return Object.fromEntries(tools.map((tool) => [tool.name, aiSdkTool(client, choice, tool)]));
}

function aiSdkTool(
  client: Pick<ToolyardClient, 'calls'>,
  choice: ToolChoice,
  { name, title, description, inputSchema }: AgentTool,
): AiSdkTool {
  return {
    type: 'dynamic',
    title,
    description,
    inputSchema: schemaOf(inputSchema),
    execute: (input, { toolCallId, abortSignal }) =>
      followToolCall(client, choice, { name, arguments: input, id: toolCallId }, abortSignal),
    toModelOutput: ({ output }) => modelOutput(output),
  };
}

/** Mark of the AI SDK on results of its `jsonSchema`, which is not imported: the SDK stays a peer. */
const SCHEMA_MARK = Symbol.for('vercel.ai.schema');

/**
 * Equivalent of `jsonSchema(schema)` of the AI SDK. Not a Standard Schema alone, for which the SDK forbids additional
 * properties, while some tools accept them.
 */
function schemaOf(schema: AgentTool['inputSchema']): AiSdkSchema {
  const marked = { [SCHEMA_MARK]: true, _type: undefined, jsonSchema: schema, validate: undefined };
  return { ...marked, '~standard': { version: 1, vendor: 'toolyard', validate: (value) => ({ value }) } };
}

/** Output for the model. Outputs may come from a store of messages, as plain JSON. */
function modelOutput(output: unknown): AiSdkModelOutput {
  if (!isAnswer(output)) return { type: 'error-text', value: 'The call has not ended.' };
  if (output.isError) return { type: 'error-text', value: output.text };
  if (!output.content.some(({ type }) => type === 'image')) return { type: 'text', value: output.text };
  const parts = output.content.map((part) =>
    part.type === 'image'
      ? ({ type: 'image-data', data: part.data, mediaType: part.mimeType } as const)
      : ({ type: 'text', text: textOf([part]) } as const),
  );
  return { type: 'content', value: parts };
}

function isAnswer(output: unknown): output is ToolAnswer {
  return typeof output === 'object' && output !== null && 'status' in output && output.status === 'ended';
}
