import type { ProgressToken, ServerContext } from '@modelcontextprotocol/server';
import type { Principal } from '#contracts';
import type { ClientFeatures } from '../wire/client-features.js';

/** One `tools/call` as it came. */
export interface ToolCall {
  readonly principal: Principal;
  readonly features: ClientFeatures;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly ctx: ServerContext;
  /** The session, of a client of a revision before 2026-07-28. */
  readonly session?: CallSession | undefined;
}

/** What a call needs of the session in which it was made. */
export interface CallSession {
  /** Remembers which call the request became. False: the client has cancelled the request meanwhile. */
  began(callId: string): Promise<boolean>;
  /** Asks the user of the client whether the call may run. The answer comes with a request of its own. */
  ask(callId: string, params: ElicitationForm): Promise<void>;
  /** Whether the client has cancelled the request: then it gets no answer. */
  isCancelled(): Promise<boolean>;
}

/** The parameters of `elicitation/create`. */
export interface ElicitationForm {
  readonly mode: 'form';
  readonly message: string;
  readonly requestedSchema: {
    readonly type: 'object';
    readonly properties: Record<string, { type: 'boolean'; title: string; description: string }>;
    readonly required: string[];
  };
}

export function progressTokenOf({ meta }: ToolCall): ProgressToken | undefined {
  const token = meta['progressToken'];
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}
