import type { Content } from '#contracts';
import type { ToolyardClient } from '../toolyard-client.js';
import { listAgentTools, type AgentTool, type ToolChoice } from './core/agent-session.js';
import { runToolCall } from './core/run-tool-call.js';
import { textOf, type ToolAnswer } from './core/tool-answer.js';

export type { ToolChoice } from './core/agent-session.js';
export type { ToolAnswer } from './core/tool-answer.js';

/** Content of a tool message. */
export type LangChainContent = string | ({ type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } })[];

/** Second argument of a LangChain tool's function. */
export interface LangChainConfig {
  readonly signal?: AbortSignal;
  readonly toolCall?: { readonly id?: string };
}

/** Second argument of `tool` of `@langchain/core/tools`. */
export interface LangChainFields {
  readonly name: string;
  readonly description: string;
  readonly schema: AgentTool['inputSchema'];
  readonly responseFormat: 'content_and_artifact';
}

export interface LangChainChoice<T> extends ToolChoice {
  /** `tool` of `@langchain/core/tools`: the tools must be of a class of the agent's LangChain. */
  readonly tool: (run: (input: unknown, config?: LangChainConfig) => Promise<[LangChainContent, ToolAnswer]>, fields: LangChainFields) => T;
}

/**
 * Tools of a session as a list for `bindTools` of LangChain and agents of LangGraph.
 *
 * The signal of the config cancels the call. Denied, failed and rejected calls are texts that the model reads. The artifact of
 * the tool message is a `ToolAnswer`, with the id of the call and its error flag.
 *
 * @example `const tools = await toolyardTools(client, { sessionId, tool })`
 */
export async function toolyardTools<T>(client: Pick<ToolyardClient, 'calls' | 'tools'>, choice: LangChainChoice<T>): Promise<T[]> {
  const tools = await listAgentTools(client, choice);
  return tools.map(({ name, description, inputSchema }) =>
    choice.tool(
      async (input, config) => {
        const answer = await runToolCall(client, choice, { name, arguments: input, id: config?.toolCall?.id }, config?.signal);
        return [contentOf(answer), answer];
      },
      { name, description, schema: inputSchema, responseFormat: 'content_and_artifact' },
    ),
  );
}

function contentOf({ content, text }: ToolAnswer): LangChainContent {
  return content.some(({ type }) => type === 'image') ? content.map(partOf) : text;
}

function partOf(part: Content) {
  if (part.type === 'image') return { type: 'image_url' as const, image_url: { url: `data:${part.mimeType};base64,${part.data}` } };
  return { type: 'text' as const, text: textOf([part]) };
}
