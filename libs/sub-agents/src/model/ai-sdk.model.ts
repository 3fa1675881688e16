import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type LanguageModelV3, type LanguageModelV3StreamPart, type SharedV3ProviderOptions, APICallError } from '@ai-sdk/provider';
import type { AgentModel } from '#contracts';
import type { EgressFetch } from '#sandbox';
import { resolveSecret } from '#sources';
import { boundedFetch } from './bounded-fetch.js';
import {
  ModelFailure,
  ModelThinking,
  type AskOptions,
  type Model,
  type ModelAnswer,
  type ModelRequest,
  type ModelToolCall,
} from './model.port.js';
import { promptOf, toolsOf } from './prompt.js';

const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** Failure of a request, without the server's text, which may repeat the request or contain anything. */
function failureOf(error: unknown): ModelFailure {
  const own = causeOf(error);
  if (own !== undefined) return own;
  if (!APICallError.isInstance(error)) return new ModelFailure('its answer could not be read or broke off', true);
  const { statusCode, responseHeaders = {}, isRetryable } = error;
  if (statusCode === undefined || statusCode < 400) return new ModelFailure('its answer could not be read or broke off', true);
  return new ModelFailure(`its server answered with HTTP ${statusCode}`, isRetryable, retryAfterMs(responseHeaders));
}

/** Failure thrown by `fetch`, which the provider wraps. */
function causeOf(error: unknown): ModelFailure | undefined {
  for (let it = error, depth = 0; it instanceof Error && depth < 5; it = it.cause, depth += 1) if (it instanceof ModelFailure) return it;
  return undefined;
}

/** Retry delay in milliseconds, from seconds or a date (RFC 9110). */
function retryAfterMs(headers: Readonly<Record<string, string>>): number | undefined {
  const text = headers['retry-after'];
  if (text === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(text.trim()) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), LONGEST_RETRY_AFTER_MS) : undefined;
}

const ThinkingMetadata = ModelThinking.shape.metadata.unwrap();
const PROVIDER = 'toolyard';
/** Placeholder of a provider that needs no key. */
const NO_KEY = 'none';

/** Thinking tokens for each `thinkingLevel` of models that need a number. The answer's tokens are added to them. */
const THINKING_TOKENS = { low: 2_048, medium: 8_192, high: 24_576 } as const;

/** Most stored tool calls; further ones are only counted. */
const KEPT_TOOL_CALLS = 1_000;

/** Model by the AI SDK's provider of its API, which handles the wire format; requests and retries are ours. */
export class AiSdkModel implements Model {
  private readonly model: LanguageModelV3;

  /** @throws Error that names the variable, if `apiKey` is not set in `env` */
  constructor(
    private readonly settings: AgentModel,
    env: Readonly<Record<string, string | undefined>>,
    guarded: Pick<EgressFetch, 'fetch'>,
  ) {
    this.model = languageModel(settings, apiKeyOf(settings, env), boundedFetch(guarded.fetch));
  }

  async ask(request: ModelRequest, { signal, onText }: AskOptions): Promise<ModelAnswer> {
    const { provider, timeoutMs, maxOutputTokens, thinkingLevel } = this.settings;
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const tools = toolsOf(request, provider);
      const { stream } = await this.model.doStream({
        prompt: promptOf(request),
        ...(tools.length === 0 ? {} : { tools, toolChoice: { type: 'auto' } }),
        maxOutputTokens: Math.min(maxOutputTokens, request.maxOutputTokens ?? maxOutputTokens),
        abortSignal: AbortSignal.any([signal, timeout]),
        ...(thinkingLevel === undefined ? {} : { providerOptions: thinkingOptions(thinkingLevel) }),
      });
      return await readStream(stream, onText, provider === 'anthropic');
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (timeout.aborted) throw new ModelFailure(`it did not answer within ${timeoutMs} ms`, true);
      throw failureOf(error);
    }
  }
}

function languageModel({ provider, name, url }: AgentModel, apiKey: string | undefined, bounded: typeof fetch): LanguageModelV3 {
  const common = { baseURL: url.replace(/\/+$/, ''), fetch: bounded };
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
  return apiKey === undefined ? undefined : resolveSecret(apiKey, env);
}

function thinkingOptions(level: keyof typeof THINKING_TOKENS): SharedV3ProviderOptions {
  return {
    [PROVIDER]: { reasoningEffort: level },
    anthropic: { thinking: { type: 'enabled', budgetTokens: THINKING_TOKENS[level] } },
  };
}

async function readStream(
  stream: ReadableStream<LanguageModelV3StreamPart>,
  onText: AskOptions['onText'],
  keepsThinking: boolean,
): Promise<ModelAnswer> {
  let text = '';
  const thinking = new Map<string, { text: string; metadata: NonNullable<ModelThinking['metadata']> }>();
  let usage: ModelAnswer['usage'] | undefined;
  const toolCalls: ModelToolCall[] = [];
  for await (const part of stream) {
    if (part.type === 'text-delta') {
      text += part.delta;
      onText(part.delta);
    } else if (keepsThinking && (part.type === 'reasoning-start' || part.type === 'reasoning-delta')) {
      const block = thinking.get(part.id) ?? { text: '', metadata: {} };
      if (part.type === 'reasoning-delta') block.text += part.delta;
      const metadata = ThinkingMetadata.safeParse(part.providerMetadata ?? {}).data;
      thinking.set(part.id, { ...block, metadata: { ...block.metadata, ...metadata } });
    } else if (part.type === 'tool-call' && toolCalls.length < KEPT_TOOL_CALLS)
      toolCalls.push({ id: part.toolCallId, name: part.toolName, arguments: part.input });
    else if (part.type === 'finish')
      usage = { inputTokens: count(part.usage.inputTokens.total), outputTokens: count(part.usage.outputTokens.total) };
    else if (part.type === 'error') throw part.error;
  }
  if (usage === undefined) throw new ModelFailure('its answer broke off', true);
  return { text, toolCalls, usage, ...(thinking.size === 0 ? {} : { thinking: [...thinking.values()] }) };
}

/** Token count within bounds, since servers may report anything. */
function count(tokens: number | undefined): number {
  return tokens === undefined || !Number.isFinite(tokens) || tokens < 0 ? 0 : Math.min(Math.round(tokens), 1_000_000_000);
}
