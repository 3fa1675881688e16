import { ProblemError, type JsonValue, type Principal, type ToolAnswer, type ToolCallers } from '#contracts';

/** A running call whose tool asks a gateway to do its work. */
export interface ToolCall {
  readonly callId: string;
  /** The key that submitted it, as it is now. */
  readonly principal: Principal;
  readonly sessionId: string | undefined;
  readonly agentId: string | undefined;
  readonly userId: string | undefined;
  /** Whether a sub-agent made it. */
  readonly agent: ToolCallers;
  /** As submitted, with secrets; the worker has checked them. */
  readonly args: Readonly<Record<string, JsonValue>>;
}

/** Does the work of one tool. It expects the same call again after a crash. @throws ProblemError for what the model should read */
export type ToolHandler = (call: ToolCall) => Promise<ToolAnswer>;

/** @throws ProblemError `invalid_request` for a call without a session */
export function sessionOf({
  callId,
  principal,
  sessionId,
}: ToolCall): Pick<ToolCall, 'principal' | 'callId'> & { readonly sessionId: string } {
  if (sessionId !== undefined) return { principal, sessionId, callId };
  throw new ProblemError('invalid_request', 'This tool works in a session only: submit the call with a sessionId');
}

export function jsonOutput(json: JsonValue): Extract<ToolAnswer, { kind: 'output' }> {
  return { kind: 'output', content: [{ type: 'json', json }] };
}
