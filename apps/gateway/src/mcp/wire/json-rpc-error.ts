import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { LIMITS } from '#contracts';

/** An answer with an error, before there is a server to give it. `id`: of the request, where it could be read. */
export function jsonRpcError(status: number, code: number, message: string, id: string | number | null = null): Response {
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status });
}

export function invalidParams(message: string, data?: unknown): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, data);
}

export const NO_MESSAGE = `Expected one JSON-RPC message of at most ${LIMITS.bodyBytes} bytes as the body`;
