import type { ToolyardClient } from '../toolyard-client.js';
import { listAgentTools, type AgentTool, type ToolChoice } from './core/agent-session.js';
import { runToolCall } from './core/run-tool-call.js';
import { textOf, type ToolAnswer } from './core/tool-answer.js';

export type { ToolChoice } from './core/agent-session.js';

/** Output of a tool. */
export type AgentsOutput = string | ({ type: 'text'; text: string } | { type: 'image'; image: string })[];

/** Details of a call from the SDK. */
export interface AgentsCallDetails {
  readonly toolCall?: { readonly callId: string };
  readonly signal?: AbortSignal;
}

/** Tool in the shape of `tool` of `@openai/agents`. */
export interface AgentsTool {
  readonly type: 'function';
  readonly name: string;
  readonly description: string;
  readonly parameters: { type: 'object'; properties: Record<string, unknown>; required: string[]; additionalProperties: true };
  readonly strict: false;
  invoke(runContext: unknown, input: string, details?: AgentsCallDetails): Promise<AgentsOutput>;
  needsApproval(): Promise<boolean>;
  isEnabled(): Promise<boolean>;
}

/**
 * Tools of a session for an `Agent` of `@openai/agents`.
 *
 * The signal of the run cancels the call. Denied, failed and rejected calls are texts that the model reads. Approvals are those
 * of Toolyard: the SDK has no interruption for them, the run waits.
 *
 * @example `new Agent({ name: 'Builder', tools: await toolyardTools(client, { sessionId }) })`
 */
export async function toolyardTools(client: Pick<ToolyardClient, 'calls' | 'tools'>, choice: ToolChoice): Promise<AgentsTool[]> {
  const tools = await listAgentTools(client, choice);
  return tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    name,
    description,
    parameters: parametersOf(inputSchema),
    strict: false,
    // Passes the model's text unchanged: the gateway parses it, and its error text explains the fault.
    invoke: async (_context, input, details) => {
      const answer = await runToolCall(client, choice, { name, arguments: input, id: details?.toolCall?.callId }, details?.signal);
      return outputOf(answer);
    },
    needsApproval: () => Promise.resolve(false),
    isEnabled: () => Promise.resolve(true),
  }));
}

/** Parameters with the fields that the SDK requires of schemas without strict mode; `additionalProperties` is the tool's. */
function parametersOf(schema: AgentTool['inputSchema']): AgentsTool['parameters'] {
  const { properties, required } = schema;
  return {
    additionalProperties: true,
    ...schema,
    type: 'object',
    properties: isRecord(properties) ? properties : {},
    required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function outputOf({ content, text }: ToolAnswer): AgentsOutput {
  if (!content.some(({ type }) => type === 'image')) return text;
  return content.map((part) =>
    part.type === 'image' ? { type: 'image', image: `data:${part.mimeType};base64,${part.data}` } : { type: 'text', text: textOf([part]) },
  );
}
