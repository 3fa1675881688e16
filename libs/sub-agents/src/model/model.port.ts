import { z } from 'zod';
import { Json, type ToolDescriptor } from '#contracts';

/** Call requested by the model; `arguments` is JSON text, if the model wrote JSON. */
export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Block of thinking, unchanged. `metadata`: data that the provider requires back with it, such as a signature. */
export const ModelThinking = z.object({ text: z.string(), metadata: z.record(z.string(), z.record(z.string(), Json)).optional() });
export type ModelThinking = z.output<typeof ModelThinking>;

export interface ModelToolResult {
  readonly toolCallId: string;
  readonly tool: string;
  readonly text: string;
  readonly isError: boolean;
}

export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly toolCalls: readonly ModelToolCall[];
      readonly thinking?: readonly ModelThinking[];
    }
  | { readonly role: 'tools'; readonly results: readonly ModelToolResult[] };

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly Pick<ToolDescriptor, 'name' | 'description' | 'input'>[];
  /** Most output tokens, if lower than in the model's settings. */
  readonly maxOutputTokens?: number;
}

export interface ModelAnswer {
  readonly text: string;
  /** Blocks that the next request has to repeat unchanged. Absent for providers that accept none. */
  readonly thinking?: readonly ModelThinking[];
  readonly toolCalls: readonly ModelToolCall[];
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Called with pieces of the text as they arrive. */
  readonly onText: (text: string) => void;
}

/** Model behind the API of a provider. */
export interface Model {
  /** Rejects with a `ModelFailure`, or with the reason of the signal. */
  ask(request: ModelRequest, options: AskOptions): Promise<ModelAnswer>;
}

/** Failure of a request to a model. Its message contains no secret. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  constructor(
    message: string,
    /** True if the same request may succeed later. */
    readonly retryable: boolean,
    /** Retry delay from the server. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}
