import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV3, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { AgentModel } from '#contracts';
import { boundedFetch } from './bounded-fetch.js';
import { failureOf } from './failure-of.js';
import { ModelFailure, type AskOptions, type Model, type ModelAnswer, type ModelRequest, type ModelToolCall } from './model.port.js';
import { promptOf, toolsOf } from './prompt.js';

const PROVIDER = 'toolyard';
/** Names of API keys stand in headers. */
const NO_KEY = 'none';

/** More tool calls than this are counted, not kept. */
const KEPT_TOOL_CALLS = 1_000;

/** A model by the AI SDK's provider of its API: that knows the wire format; requests and retries are ours. */
export class AiSdkModel implements Model {
  private readonly model: LanguageModelV3;

  /** @throws Error that names the variable, when `apiKey` is not set in `env` */
  constructor(
    private readonly settings: AgentModel,
    env: Readonly<Record<string, string | undefined>>,
  ) {
    this.model = languageModel(settings, apiKeyOf(settings, env));
  }

  async ask(request: ModelRequest, { signal, onText }: AskOptions): Promise<ModelAnswer> {
    const { timeoutMs, maxOutputTokens, thinkingLevel } = this.settings;
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const tools = toolsOf(request);
      const { stream } = await this.model.doStream({
        prompt: promptOf(request),
        ...(tools.length === 0 ? {} : { tools, toolChoice: { type: 'auto' } }),
        maxOutputTokens,
        abortSignal: AbortSignal.any([signal, timeout]),
        ...(thinkingLevel === undefined ? {} : { providerOptions: { [PROVIDER]: { reasoningEffort: thinkingLevel } } }),
      });
      return await readStream(stream, onText);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (timeout.aborted) throw new ModelFailure(`it did not answer within ${timeoutMs} ms`, true);
      throw failureOf(error);
    }
  }
}

function languageModel({ provider, name, url }: AgentModel, apiKey: string | undefined): LanguageModelV3 {
  const common = { baseURL: url.replace(/\/+$/, ''), fetch: boundedFetch };
  switch (provider) {
    case 'anthropic':
      return createAnthropic({ ...common, apiKey: apiKey ?? NO_KEY }).languageModel(name);
    case 'openai-compatible':
      return createOpenAICompatible({
        ...common,
        name: PROVIDER,
        includeUsage: true,
        ...(apiKey === undefined ? {} : { apiKey }),
      }).languageModel(name);
    default:
      return provider satisfies never;
  }
}

function apiKeyOf({ apiKey }: AgentModel, env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (apiKey === undefined) return undefined;
  const value = env[apiKey.secretEnv];
  if (value === undefined || value === '') throw new Error(`the secret ${apiKey.secretEnv} is not set in the environment of the worker`);
  return value;
}

async function readStream(stream: ReadableStream<LanguageModelV3StreamPart>, onText: AskOptions['onText']): Promise<ModelAnswer> {
  let text = '';
  let usage: ModelAnswer['usage'] | undefined;
  const toolCalls: ModelToolCall[] = [];
  for await (const part of stream) {
    if (part.type === 'text-delta') {
      text += part.delta;
      onText(part.delta);
    } else if (part.type === 'tool-call' && toolCalls.length < KEPT_TOOL_CALLS)
      toolCalls.push({ id: part.toolCallId, name: part.toolName, arguments: part.input });
    else if (part.type === 'finish')
      usage = { inputTokens: count(part.usage.inputTokens.total), outputTokens: count(part.usage.outputTokens.total) };
    else if (part.type === 'error') throw part.error;
  }
  if (usage === undefined) throw new ModelFailure('its answer broke off', true);
  return { text, toolCalls, usage };
}

/** Servers may count what they like. */
function count(tokens: number | undefined): number {
  return tokens === undefined || !Number.isFinite(tokens) || tokens < 0 ? 0 : Math.min(Math.round(tokens), 1_000_000_000);
}
