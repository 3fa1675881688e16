import { specTypeSchemas, type CreateMessageRequestParams, type CreateMessageResult } from '@modelcontextprotocol/client';
import { TURN_LIMITS, type McpSampling } from '#contracts';
import { sha256Hex } from '#redis';
import { ToolError, type ToolContext } from '#tool-sdk';
import type { Sampled } from './question.js';
import { samplingQuestion } from './sampling.js';

type Message =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly toolCalls: [] };

/** A model of the operator. Rejects with an error whose message has no secret, or with the reason of the signal. */
export interface SamplingModel {
  ask(
    request: { readonly system: string; readonly messages: readonly Message[]; readonly tools: []; readonly maxOutputTokens: number },
    options: { readonly signal: AbortSignal; readonly onText: (text: string) => void },
  ): Promise<{ readonly text: string; readonly usage: { readonly inputTokens: number; readonly outputTokens: number } }>;
}

export type SamplingContext = Pick<ToolContext, 'signal' | 'redact' | 'agentRun'>;

/** Requests and tokens of a model that servers used in one call of a tool. */
export class SamplingBudget {
  constructor(private sampled: Sampled = { calls: 0, tokens: 0 }) {}

  get used(): Sampled {
    return this.sampled;
  }

  /** Counts a request whose answer has at most `wanted` tokens, and returns how many it may have. @throws Error when a limit is reached */
  begin(wanted: number, { maxCalls, maxTokens }: McpSampling): { readonly turn: number; readonly tokens: number; end(used: number): void } {
    const { calls, tokens } = this.sampled;
    if (calls >= maxCalls) throw new Error(`the call has asked ${calls} times, and sampling.maxCalls allows ${maxCalls}`);
    if (tokens >= maxTokens) throw new Error(`the call has used ${tokens} tokens, and sampling.maxTokens allows ${maxTokens}`);
    const reserved = Math.min(wanted, maxTokens - tokens);
    this.sampled = { calls: calls + 1, tokens: tokens + reserved };
    return {
      turn: calls + 1,
      tokens: reserved,
      end: (used) => (this.sampled = { ...this.sampled, tokens: this.sampled.tokens - reserved + used }),
    };
  }
}

/** Answers `sampling/createMessage` of a source by the model that the operator names for it, instead of that of an MCP client. */
export class OwnSampling {
  constructor(
    private readonly source: string,
    private readonly settings: McpSampling,
    private readonly model: SamplingModel,
  ) {}

  /**
   * Each answer is a `call.turn` event of the call.
   *
   * @throws ToolError that says why there is no answer: what is asked is refused, a limit is reached, or the model failed
   */
  async answer(asked: unknown, budget: SamplingBudget, ctx: SamplingContext): Promise<CreateMessageResult> {
    const { model } = this.settings;
    try {
      const question = samplingQuestion(this.source, asked);
      if (typeof question === 'string') throw new Error(question);
      const params = paramsOf(question.sampling);
      const messages = params.messages.map(messageOf);
      const request = budget.begin(Math.min(params.maxTokens, model.maxOutputTokens), this.settings);
      const began = performance.now();
      const { text, usage } = await this.model.ask(
        { system: params.systemPrompt ?? '', messages, tools: [], maxOutputTokens: request.tokens },
        { signal: ctx.signal, onText: () => {} },
      );
      request.end(usage.inputTokens + usage.outputTokens);
      const shown = cutBytes(ctx.redact(text), TURN_LIMITS.textBytes);
      await ctx.agentRun?.recordTurn({
        turn: request.turn,
        model: model.name,
        requestSha256: sha256Hex(JSON.stringify(question.sampling)),
        ...(shown === '' ? {} : { text: shown }),
        toolCalls: [],
        usage,
        tookMs: Math.round(performance.now() - began),
      });
      return { role: 'assistant', content: { type: 'text', text }, model: model.name, stopReason: 'endTurn' };
    } catch (error) {
      if (ctx.signal.aborted) throw ctx.signal.reason;
      const why = error instanceof Error ? error.message : String(error);
      const message = `The MCP server ${this.source} asked for a model, and that of the operator gave no answer: ${why}`;
      throw new ToolError('tool_failed', message.slice(0, 2_000), { retryable: false, cause: error });
    }
  }
}

function paramsOf(sampling: unknown): CreateMessageRequestParams {
  const parsed = specTypeSchemas.CreateMessageRequestParams['~standard'].validate(sampling);
  if (parsed.issues === undefined) return parsed.value;
  throw new Error('expected messages and `maxTokens`');
}

/** Models behind the port read texts alone. */
function messageOf({ role, content }: CreateMessageRequestParams['messages'][number]): Message {
  const text = [content]
    .flat()
    .map((block) => {
      if (block.type === 'text') return block.text;
      throw new Error(`expected messages of texts, got one of the type ${block.type}`);
    })
    .join('\n');
  return role === 'user' ? { role, text } : { role, text, toolCalls: [] };
}

/** The beginning of a text, never half a character. */
function cutBytes(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text.slice(0, bytes)).subarray(0, bytes), { stream: true });
}
