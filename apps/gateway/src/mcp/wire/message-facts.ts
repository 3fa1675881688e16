/** Longer ones would be sent back, or kept, with every message about the request. */
export const MAX_ID_CHARS = 256;

/** What the gateway looks at in a message before the SDK checks it. */
export interface MessageFacts {
  /** Undefined where it is no text. */
  readonly method: string | undefined;
  /** The answer is a stream of notifications without an end of its own, or one that ends with the call. */
  readonly isStream: boolean;
  /** Its id or its progress token is longer than `MAX_ID_CHARS`. */
  readonly hasLongId: boolean;
}

export function factsOf(body: unknown): MessageFacts {
  const method = memberOf(body, 'method');
  const progressToken = memberOf(memberOf(memberOf(body, 'params'), '_meta'), 'progressToken');
  return {
    method: typeof method === 'string' ? method : undefined,
    isStream: isListen(body) || (method === 'tools/call' && progressToken !== undefined),
    hasLongId: isLong(memberOf(body, 'id')) || isLong(progressToken),
  };
}

export function isListen(body: unknown): boolean {
  return memberOf(body, 'method') === 'subscriptions/listen';
}

/** The tool that a `tools/call` names; undefined for any other message. */
export function toolOf(body: unknown): string | undefined {
  const name = memberOf(body, 'method') === 'tools/call' ? memberOf(memberOf(body, 'params'), 'name') : undefined;
  return typeof name === 'string' ? name : undefined;
}

function isLong(id: unknown): boolean {
  return typeof id === 'string' && id.length > MAX_ID_CHARS;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
