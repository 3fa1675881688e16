import type { CreateMessageRequestParams, ProgressToken, ServerContext } from '@modelcontextprotocol/server';
import type { Principal } from '#contracts';
import type { ClientFeatures } from '../wire/client-features.js';

/** One `tools/call` request. */
export interface ToolCall {
  readonly principal: Principal;
  readonly features: ClientFeatures;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly ctx: ServerContext;
  /** Session of a client of a revision before 2026-07-28. */
  readonly session?: CallSession | undefined;
}

/** Session functions that a call needs. */
export interface CallSession {
  /** Last progress that the client has read: new progress begins above it. */
  readonly progressAfter?: number | undefined;
  /** Stores the call of the request. False if the client has cancelled the request meanwhile. */
  began(callId: string): Promise<boolean>;
  /** Sends a request to the client's user or model. The answer comes in a request of its own. */
  ask(callId: string, question: string, request: ClientRequest): Promise<void>;
  /** Calls `then` once the user has answered or dismissed the request, at any gateway, until the returned function is called. */
  whenClosed(callId: string, question: string, then: () => void): () => void;
  /** Called before the response. True if the client has cancelled the request, which then gets no response. */
  isCancelled(): Promise<boolean>;
}

interface FieldText {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
}

type Titled = { const: string; title: string }[];

interface TextField {
  readonly type: 'string';
  readonly default?: string | undefined;
}

interface ChoicesField {
  readonly type: 'array';
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly default?: string[] | undefined;
}

/** Field types of a form in the protocol. */
export type FormField = FieldText &
  (
    | { readonly type: 'boolean'; readonly default?: boolean | undefined }
    | { readonly type: 'number' | 'integer'; minimum?: number | undefined; maximum?: number | undefined; default?: number | undefined }
    | (TextField & { readonly oneOf: Titled })
    | (TextField & { readonly enum: string[]; readonly enumNames?: string[] | undefined })
    | (TextField & {
        readonly enum?: undefined;
        readonly minLength?: number | undefined;
        readonly maxLength?: number | undefined;
        readonly format?: 'email' | 'uri' | 'date' | 'date-time' | undefined;
      })
    | (ChoicesField & { readonly items: { readonly type: 'string'; enum: string[] } })
    | (ChoicesField & { readonly items: { anyOf: Titled } })
  );

/** The parameters of `elicitation/create`. */
export interface ElicitationForm {
  readonly mode: 'form';
  readonly message: string;
  readonly requestedSchema: {
    readonly type: 'object';
    readonly properties: Record<string, FormField>;
    readonly required: string[];
  };
}

/** Request to a client during a call. */
export type ClientRequest =
  | { readonly method: 'elicitation/create'; readonly params: ElicitationForm }
  | { readonly method: 'sampling/createMessage'; readonly params: CreateMessageRequestParams };

export function progressTokenOf({ meta }: ToolCall): ProgressToken | undefined {
  const token = meta['progressToken'];
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}
