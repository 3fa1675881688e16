import { isSpecType } from '@modelcontextprotocol/server';
import type { Call, JsonValue } from '#contracts';
import type { ClientRequest } from './tool-call.js';

/** The question of a bridged server for the model of the client. Its `_meta` names the server. Undefined without one. */
export function samplingRequest({ waiting }: Call): ClientRequest | undefined {
  const params: unknown = waiting?.input?.sampling;
  return isSpecType.CreateMessageRequestParams(params) ? { method: 'sampling/createMessage', params } : undefined;
}

/** What the model said. Undefined for what is no result of `sampling/createMessage` without tools. */
export function sampledIn(response: JsonValue): JsonValue | undefined {
  return isSpecType.CreateMessageResult(response) ? response : undefined;
}
