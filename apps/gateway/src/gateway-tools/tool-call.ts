import { ProblemError, type Dialect, type JsonValue, type Principal, type ToolAnswer, type ToolCallers } from '#contracts';

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
  /** Whose tool names the model uses. Absent: the canonical ones. */
  readonly dialect?: Dialect | undefined;
  /** As submitted, with secrets; the worker has checked them. */
  readonly args: Readonly<Record<string, JsonValue>>;
}

/** Does the work of one tool. Safe to repeat: the same call comes again after a crash. @throws ProblemError with a text for the model */
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
