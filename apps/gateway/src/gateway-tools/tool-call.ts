import { ProblemError, type Dialect, type JsonValue, type Principal, type ToolAnswer, type ToolCallers } from '#contracts';

/** Running call whose tool a gateway handles. */
export interface ToolCall {
  readonly callId: string;
  /** Submitting key with its current rights. */
  readonly principal: Principal;
  readonly sessionId: string | undefined;
  readonly agentId: string | undefined;
  readonly userId: string | undefined;
  /** Kind of the caller: the main agent or a sub-agent. */
  readonly agent: ToolCallers;
  /** Dialect of tool names for the model. Default: canonical names. */
  readonly dialect?: Dialect | undefined;
  /** Submitted arguments with secrets; the worker has validated them. */
  readonly args: Readonly<Record<string, JsonValue>>;
}

/** Runs one tool. Safe to repeat: the same call comes again after a crash. @throws ProblemError with a text for the model */
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
