import type { Call, Content } from '#contracts';
import type { ModelMessage, ModelToolResult } from '../model/model.port.js';
import { recalledText } from '../journal/recalled-memory.js';
import type { AgentHistory } from '../journal/agent-journal.js';
import type { RecordedTurn, SubmittedToolCall } from '../journal/recorded-turn.js';

/** Ended calls by their id. */
export type EndedCalls = ReadonlyMap<string, Call>;

const RESULT_GONE = 'The result of this call is not stored any more.';

/** Conversation so far, for the next request. The same history gives the same messages. Pure. */
export function messagesOf(task: string, { turns, submitted, steering, recalled }: AgentHistory, calls: EndedCalls): ModelMessage[] {
  const memory = recalled && recalledText(recalled);
  const messages: ModelMessage[] = [...steered(memory === undefined ? [] : [memory]), { role: 'user', text: task }];
  messages.push(...steered(steering.get(1)));
  for (const turn of turns) {
    const { text, thinking, toolCalls } = turn;
    messages.push({
      role: 'assistant',
      text,
      ...(thinking === undefined ? {} : { thinking }),
      toolCalls: toolCalls.map(({ toolCallId, tool, arguments: args }) => ({ id: toolCallId, name: tool, arguments: args })),
    });
    messages.push({ role: 'tools', results: resultsOf(turn, submitted.get(turn.turn) ?? [], calls) });
    if (turn.leftOut > 0) messages.push({ role: 'user', text: leftOut(turn) });
    messages.push(...steered(steering.get(turn.turn + 1)));
  }
  return messages;
}

function steered(messages: readonly string[] = []): ModelMessage[] {
  return messages.map((text) => ({ role: 'user', text }));
}

function leftOut({ leftOut: count, toolCalls }: RecordedTurn): string {
  return `${count} further tool calls of the last turn did not run: at most ${toolCalls.length} run in one turn.`;
}

function resultsOf({ toolCalls }: RecordedTurn, submitted: readonly SubmittedToolCall[], calls: EndedCalls): ModelToolResult[] {
  const byId = new Map(submitted.map((it) => [it.toolCallId, it]));
  return toolCalls.map(({ toolCallId, tool, refusal }) => {
    const { callId, error } = byId.get(toolCallId) ?? {};
    if (refusal !== undefined) return { toolCallId, tool, text: refusal, isError: true };
    const call = callId === undefined ? undefined : calls.get(callId);
    if (call === undefined) return { toolCallId, tool, text: error ?? RESULT_GONE, isError: true };
    return { toolCallId, tool, ...resultOf(call) };
  });
}

function resultOf({ result, error, outcome }: Call): Pick<ModelToolResult, 'text' | 'isError'> {
  const isError = outcome !== 'completed' || result?.isError === true;
  const text = result === undefined ? (error?.message ?? '') : result.content.map(textOf).join('\n');
  return { text, isError };
}

function textOf(content: Content): string {
  switch (content.type) {
    case 'text':
      return content.text;
    case 'json':
      return JSON.stringify(content.json);
    case 'image':
    case 'audio':
      return `[${content.type} of the type ${content.mimeType}, which is not shown]`;
    case 'resource':
      return 'text' in content.resource ? content.resource.text : `[${content.resource.uri}, which is not shown]`;
    case 'resource_link':
      return `[${content.name ?? 'Resource'}: ${content.uri}]`;
    default:
      return content satisfies never;
  }
}
