import type { LanguageModelV3FunctionTool, LanguageModelV3Message, LanguageModelV3Prompt } from '@ai-sdk/provider';
import { parseExactJson, type AgentModel } from '#contracts';
import { modelTool } from '#tool-sdk';
import type { ModelMessage, ModelRequest } from './model.port.js';

/** Messages of a request in the form of AI SDK providers. Pure. */
export function promptOf({ system, messages }: Pick<ModelRequest, 'system' | 'messages'>): LanguageModelV3Prompt {
  return [...(system === '' ? [] : [{ role: 'system' as const, content: system }]), ...messages.map(messageOf)];
}

/** Tools of a request as the API of the provider accepts them. */
export function toolsOf({ tools }: Pick<ModelRequest, 'tools'>, provider: AgentModel['provider']): LanguageModelV3FunctionTool[] {
  return tools.map((tool) => {
    const { name, description, input } = modelTool(tool, provider === 'anthropic' ? 'plain' : 'own');
    return { type: 'function', name, description, inputSchema: input };
  });
}

function messageOf(message: ModelMessage): LanguageModelV3Message {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.text }] };
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          // Thinking comes first: a provider rejects calls without the thinking that led to them.
          ...(message.thinking ?? []).map(({ text, metadata }) => ({
            type: 'reasoning' as const,
            text,
            ...(metadata === undefined ? {} : { providerOptions: metadata }),
          })),
          ...(message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]),
          ...message.toolCalls.map(({ id, name, arguments: input }) => ({
            type: 'tool-call' as const,
            toolCallId: id,
            toolName: name,
            input: parseExactJson(input),
          })),
        ],
      };
    case 'tools':
      return {
        role: 'tool',
        content: message.results.map(({ toolCallId, tool, text, isError }) => ({
          type: 'tool-result',
          toolCallId,
          toolName: tool,
          output: { type: isError ? 'error-text' : 'text', value: text },
        })),
      };
    default:
      return message satisfies never;
  }
}
