import { ToolyardError } from '../toolyard-error.js';

/** Delta of a tool call in the stream of a model. May repeat the call's id and name. */
export interface ToolCallDelta {
  /** Index of the call in the answer. */
  readonly index: number;
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
  /** Next characters of the arguments as JSON text. */
  readonly arguments?: string | null | undefined;
}

/** Tool call in the form for `execute` and `executeAll`. */
export interface AccumulatedToolCall {
  readonly id: string;
  readonly name: string;
  /** Text of the model, `{}` if it wrote none. May be malformed JSON. */
  readonly arguments: string;
}

/**
 * Joins the tool calls of a streamed answer. One instance serves one answer.
 *
 * @example
 * const answer = new ToolCallAccumulator();
 * for await (const { choices } of stream) // Chat Completions
 *   for (const delta of choices[0]?.delta.tool_calls ?? []) answer.add({ ...delta, ...delta.function });
 * const { results } = await client.executeAll(answer.calls(), { sessionId });
 */
export class ToolCallAccumulator {
  private readonly pieces = new Map<number, { id: string; name: string; text: string }>();

  /** @throws ToolyardError `protocol` if the call of the index has another id or name */
  add({ index, id, name, arguments: text }: ToolCallDelta): void {
    if (!Number.isSafeInteger(index) || index < 0)
      throw new ToolyardError('protocol', `Expected the index of a tool call, a whole number from 0, got ${String(index)}`);
    const call = this.pieces.get(index) ?? { id: '', name: '', text: '' };
    this.pieces.set(index, {
      id: agreed(index, 'id', call.id, id),
      name: agreed(index, 'name', call.name, name),
      text: call.text + (text ?? ''),
    });
  }

  /** All calls by index, after the end of the answer. @throws ToolyardError `protocol` if one has no id or no name */
  calls(): AccumulatedToolCall[] {
    return [...this.pieces]
      .sort(([a], [b]) => a - b)
      .map(([index, { id, name, text }]) => {
        const missing = [id === '' ? 'id' : '', name === '' ? 'name' : ''].filter((it) => it !== '');
        if (missing.length > 0)
          throw new ToolyardError('protocol', `The stream ended without ${missing.join(' and ')} of the tool call with index ${index}`);
        return { id, name, arguments: text.trim() === '' ? '{}' : text };
      });
  }
}

function agreed(index: number, what: 'id' | 'name', known: string, received: string | null | undefined): string {
  if (received === undefined || received === null || received === '' || received === known) return known;
  if (known === '') return received;
  throw new ToolyardError('protocol', `The tool call with index ${index} has two ${what}s: ${known} and ${received}`);
}
