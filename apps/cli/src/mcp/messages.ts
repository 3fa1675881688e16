import { PROTOCOL_VERSION_META_KEY, type JSONRPCRequest } from '@modelcontextprotocol/client';

/** True for a revision since 2026-07-28: each request contains its revision. */
export function isModern({ params }: JSONRPCRequest): boolean {
  return typeof params?._meta?.[PROTOCOL_VERSION_META_KEY] === 'string';
}

/** The request, with what `meta` says and its own `_meta` does not, if it calls a tool. */
export function withCallMeta(message: JSONRPCRequest, meta: Readonly<Record<string, string>>): JSONRPCRequest {
  if (message.method !== 'tools/call') return message;
  return { ...message, params: { ...message.params, _meta: { ...meta, ...message.params?._meta } } };
}
