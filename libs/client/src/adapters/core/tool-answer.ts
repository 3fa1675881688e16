import type { Call, CallOutcome, Content } from '#contracts';
import type { ToolyardError } from '../../toolyard-error.js';

/** Answer of a call for a model, with facts for programs. JSON, so that agents can store it. */
export type ToolAnswer = {
  readonly status: 'ended';
  /** The content as one text. */
  readonly text: string;
  readonly content: readonly Content[];
  /** True if the model should read it as an error. */
  readonly isError: boolean;
  /** Absent for a submission rejected before it became a call. */
  readonly callId?: string;
  /** Absent for a rejected submission. */
  readonly outcome?: CallOutcome;
};

/** Answer of a call as it enters a conversation. */
export type ToolResultMessage = ToolAnswer & {
  /** Id of the call by the model. */
  readonly toolCallId: string;
  /** Tool name by the model. */
  readonly toolName: string;
  /** Creation of the message, in milliseconds since the epoch. */
  readonly timestamp: number;
};

/** State of a call before its end. */
export type ToolProgress = {
  readonly status: 'waiting_approval' | 'queued' | 'running';
  readonly callId: string;
  /** Reason of the approval request, or the tool's output so far (its end, if long). */
  readonly text: string;
};

type Ended = Pick<Call, 'result' | 'error' | 'outcome'>;

/** The answer of a call that has ended. */
export function answerOf({ result, error, outcome }: Ended, callId: string | undefined): ToolAnswer {
  const content: readonly Content[] = result?.content ?? [
    { type: 'text', text: error?.message ?? `The call ended as ${outcome ?? 'unknown'}.` },
  ];
  return { status: 'ended', text: textOf(content), content, isError: result?.isError ?? outcome !== 'completed', callId, outcome };
}

/** Message for the answer of a call with the model's id and name. */
export function resultMessage(answer: ToolAnswer, { id, name }: { readonly id: string; readonly name: string }): ToolResultMessage {
  return { ...answer, toolCallId: id, toolName: name, timestamp: Date.now() };
}

/** Answer for a rejected submission. Undefined for errors that are not about the call, such as a wrong key. */
export function refusalOf({ code, result, callId }: ToolyardError): ToolAnswer | undefined {
  // A gateway gives every rejected submission a result. No model can correct a wrong key.
  if (result === undefined || code === 'unauthenticated') return undefined;
  return { ...answerOf({ result }, callId), isError: true };
}

/** The answer with a last line for the model. */
export function withWarning(answer: ToolAnswer, warning: string | undefined): ToolAnswer {
  if (warning === undefined) return answer;
  const content: readonly Content[] = [...answer.content, { type: 'text', text: warning }];
  return { ...answer, content, text: textOf(content) };
}

/** Content as one text, for models and APIs that accept only text. */
export function textOf(content: readonly Content[]): string {
  return content.map(partText).join('\n');
}

function partText(part: Content): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'json':
      return JSON.stringify(part.json);
    case 'image':
    case 'audio':
      return `[${part.type} of type ${part.mimeType}, which cannot be shown here]`;
    case 'resource':
      if ('text' in part.resource) return part.resource.text;
      return `[${part.resource.uri}, of type ${part.resource.mimeType ?? 'unknown'}, which cannot be shown here]`;
    case 'resource_link':
      return JSON.stringify(part);
    default:
      return part satisfies never;
  }
}
