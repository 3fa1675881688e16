import { runTurn, type TurnClient, type TurnOptions } from './core/run-turn.js';

export type { TurnOptions } from './core/run-turn.js';

/** Assistant message of Chat Completions, reduced to the needed fields. */
export interface ChatMessage {
  readonly tool_calls?: readonly ({ readonly id: string; readonly type: string } | ChatToolCall)[] | null;
}

interface ChatToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** Messages after the assistant's: an answer to each call, then messages of people. */
export type ChatReply = { role: 'tool'; tool_call_id: string; content: string } | { role: 'user'; content: string };

/**
 * Runs all tool calls of an assistant message of Chat Completions as a batch, and resolves with the messages that follow it.
 * Empty if the message has no calls. Calls of other types than `function` are answered as errors.
 *
 * @example `messages.push(message, ...(await runChatToolCalls(client, message, { sessionId })))`
 */
export async function runChatToolCalls(client: TurnClient, message: ChatMessage, options: TurnOptions): Promise<ChatReply[]> {
  const all = message.tool_calls ?? [];
  const calls = all.filter(isFunctionCall);
  const turn = await runTurn(
    client,
    options,
    calls.map(({ id, function: { name, arguments: text } }) => ({ id, name, arguments: text })),
  );
  const texts = new Map(calls.map(({ id }, index) => [id, turn.answers[index]?.text]));
  return [
    ...all.map(({ id, type }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: texts.get(id) ?? `Calls of type ${type} are not supported.`,
    })),
    ...turn.steering.map((content) => ({ role: 'user' as const, content })),
  ];
}

function isFunctionCall(call: { readonly type: string } | ChatToolCall): call is ChatToolCall {
  return call.type === 'function' && 'function' in call;
}

/** Items after the output of a response. */
export type ResponsesReply = { type: 'function_call_output'; call_id: string; output: string } | { role: 'user'; content: string };

interface ResponsesCall {
  readonly type: 'function_call';
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

/**
 * Runs all function calls in the output of the Responses API as a batch, and resolves with the items for the next `input`.
 * Empty if the output has no calls; items of other types are omitted.
 *
 * @example `const input = await runResponsesToolCalls(client, response.output, { sessionId })`
 */
export async function runResponsesToolCalls(
  client: TurnClient,
  output: readonly ({ readonly type: string } | ResponsesCall)[],
  options: TurnOptions,
): Promise<ResponsesReply[]> {
  const calls = output.filter((item): item is ResponsesCall => item.type === 'function_call' && 'call_id' in item);
  const turn = await runTurn(
    client,
    options,
    calls.map(({ call_id, name, arguments: text }) => ({ id: call_id, name, arguments: text })),
  );
  return [
    ...calls.map(({ call_id }, index) => ({ type: 'function_call_output' as const, call_id, output: turn.answers[index]?.text ?? '' })),
    ...turn.steering.map((content) => ({ role: 'user' as const, content })),
  ];
}
