/** Most characters of an id, which is stored and returned with every message about its request. */
export const MAX_ID_CHARS = 256;

/** Facts of a message that the gateway needs before the SDK validates it. */
export interface MessageFacts {
  /** Undefined unless it is a string. */
  readonly method: string | undefined;
  /** True if the response is a stream of notifications without an end, or one that ends with the call. */
  readonly isStream: boolean;
  /** True if the id or the progress token is longer than `MAX_ID_CHARS`. */
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

/** Tool of a `tools/call`; undefined for any other message. */
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
