import { z } from 'zod';
import { Json, type ToolDescriptor } from '#contracts';

/** A call that the model asked for; `arguments` is JSON text, if the model wrote JSON. */
export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A block of thinking as its provider gave it. `metadata`: what the provider wants back with it, such as a signature. */
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
  /** Fewer tokens than the settings of the model allow. */
  readonly maxOutputTokens?: number;
}

export interface ModelAnswer {
  readonly text: string;
  /** Blocks that the next request has to repeat as they are. Absent for providers that take none back. */
  readonly thinking?: readonly ModelThinking[];
  readonly toolCalls: readonly ModelToolCall[];
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Pieces of the text, as they come. */
  readonly onText: (text: string) => void;
}

/** A model behind the API of some provider. */
export interface Model {
  /** Rejects with a `ModelFailure`, or with the reason of the signal. */
  ask(request: ModelRequest, options: AskOptions): Promise<ModelAnswer>;
}

/** Why a model did not answer. Its message has no secret. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  constructor(
    message: string,
    /** The same request may be answered later. */
    readonly retryable: boolean,
    /** When, as the server says. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}
