import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { LIMITS, type ProblemError } from '#contracts';
import { toProblem } from '../../platform/http/to-problem.js';

/** Error response for a request that no server has received. `id`: id of the request, if it could be read. */
export function jsonRpcError(status: number, code: number, message: string, id: string | number | null = null): Response {
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status });
}

export function invalidParams(message: string, data?: unknown): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, data);
}

/** Protocol error for any error of a method. An internal error goes to `unforeseen`, and the response has no details. */
export function protocolErrorOf(error: unknown, unforeseen: (error: unknown) => void): ProtocolError {
  if (error instanceof ProtocolError) return error;
  const problem = toProblem(error);
  if (problem.code === 'internal') unforeseen(error);
  return isOfClient(problem) ? invalidParams(problem.detail) : new ProtocolError(ProtocolErrorCode.InternalError, problem.detail);
}

function isOfClient({ status }: ProblemError): boolean {
  return status >= 400 && status < 500;
}

export const NO_MESSAGE = `Expected one JSON-RPC message of at most ${LIMITS.bodyBytes} bytes as the body`;
