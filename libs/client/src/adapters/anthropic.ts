import type { Content } from '#contracts';
import type { ToolyardClient } from '../toolyard-client.js';
import { listAgentTools, type ToolChoice } from './core/agent-session.js';
import { runToolCall } from './core/run-tool-call.js';
import { runTurn, type TurnClient, type TurnOptions } from './core/run-turn.js';
import { textOf, type ToolAnswer } from './core/tool-answer.js';

export type { ToolChoice } from './core/agent-session.js';
export type { TurnOptions } from './core/run-turn.js';

type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';

/** A block of a tool result. */
export type AnthropicBlock =
  | { type: 'text'; text: string }
  | { type: 'image'; source: { type: 'base64'; media_type: ImageType; data: string } };

/** Tool in the shape of `betaTool`, for `client.beta.messages.toolRunner`. */
export interface AnthropicTool {
  readonly type: 'custom';
  readonly name: string;
  readonly description: string;
  readonly input_schema: { readonly type: 'object'; [key: string]: unknown };
  run(
    input: unknown,
    context?: { readonly toolUse: { readonly id: string }; readonly signal?: AbortSignal | null },
  ): Promise<AnthropicBlock[]>;
  parse(input: unknown): unknown;
}

export interface AnthropicChoice extends ToolChoice {
  /**
   * `ToolError` of `@anthropic-ai/sdk/lib/tools/ToolError`. The runner marks thrown errors as error results; with this class
   * the model gets the unchanged content, without it only up to 4,096 characters after "Error:".
   */
  readonly ToolError?: new (content: AnthropicBlock[]) => Error;
}

/**
 * Tools of a session for the tool runner of Anthropic's SDK.
 *
 * The signal of the runner cancels the call. Denied, failed and rejected calls are results with `is_error`.
 *
 * @example `client.beta.messages.toolRunner({ model, max_tokens, messages, tools: await toolyardTools(toolyard, { sessionId, ToolError }) })`
 */
export async function toolyardTools(client: Pick<ToolyardClient, 'calls' | 'tools'>, choice: AnthropicChoice): Promise<AnthropicTool[]> {
  const tools = await listAgentTools(client, choice);
  return tools.map(({ name, description, inputSchema }) => ({
    type: 'custom',
    name,
    description,
    input_schema: { ...inputSchema, type: 'object' },
    parse: (input) => input,
    run: async (input, context) => {
      const answer = await runToolCall(client, choice, { name, arguments: input, id: context?.toolUse.id }, context?.signal ?? undefined);
      if (!answer.isError) return blocksOf(answer);
      throw choice.ToolError === undefined ? new Error(answer.text) : new choice.ToolError(blocksOf(answer));
    },
  }));
}

/** First blocks of a user message after an answer with tool uses. */
export type ToolResultBlock =
  | { type: 'tool_result'; tool_use_id: string; content: AnthropicBlock[]; is_error: boolean }
  | { type: 'text'; text: string };

interface ToolUse {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/**
 * Runs all tool uses of an answer of the Messages API as a batch, and resolves with the content of the next user message. Empty
 * if the answer has none.
 *
 * @example `messages.push({ role: 'assistant', content }, { role: 'user', content: await runToolUses(client, content, { sessionId }) })`
 */
export async function runToolUses(
  client: TurnClient,
  content: readonly ({ readonly type: string } | ToolUse)[],
  options: TurnOptions,
): Promise<ToolResultBlock[]> {
  const uses = content.filter((block): block is ToolUse => block.type === 'tool_use' && 'input' in block);
  const turn = await runTurn(
    client,
    options,
    uses.map(({ id, name, input }) => ({ id, name, arguments: input })),
  );
  const results = turn.answers.map((answer, index) => ({
    type: 'tool_result' as const,
    tool_use_id: uses[index]?.id ?? '',
    content: blocksOf(answer),
    is_error: answer.isError,
  }));
  return [...results, ...turn.steering.map((text) => ({ type: 'text' as const, text }))];
}

/** Blocks of an answer. Omits blocks of white space alone, which the API refuses; no block at all is an empty result. */
function blocksOf({ content }: ToolAnswer): AnthropicBlock[] {
  return content.map(blockOf).filter((block) => block.type !== 'text' || block.text.trim() !== '');
}

function blockOf(part: Content): AnthropicBlock {
  if (part.type === 'image' && isImageType(part.mimeType))
    return { type: 'image', source: { type: 'base64', media_type: part.mimeType, data: part.data } };
  return { type: 'text', text: textOf([part]) };
}

function isImageType(type: string): type is ImageType {
  return ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].includes(type);
}
