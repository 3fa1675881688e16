import { isSpecType } from '@modelcontextprotocol/server';
import type { Call, JsonValue } from '#contracts';
import type { ClientRequest } from './tool-call.js';

/** Sampling request of a bridged server, with the server's name in `_meta`. Undefined without one. */
export function samplingRequest({ waiting }: Call): ClientRequest | undefined {
  const params: unknown = waiting?.input?.sampling;
  return isSpecType.CreateMessageRequestParams(params) ? { method: 'sampling/createMessage', params } : undefined;
}

/** Result of the client's model. Undefined unless it is a result of `sampling/createMessage` without tools. */
export function sampledIn(response: JsonValue): JsonValue | undefined {
  return isSpecType.CreateMessageResult(response) ? response : undefined;
}
