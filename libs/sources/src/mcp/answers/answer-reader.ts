import { isJSONRPCRequest, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { parseExactJson } from '#contracts';
import { fieldsOf, isFields } from '../../fields.js';
import { carried, carriedTask } from './carried-result.js';

/** Their results are those of a tool. */
const RESULT_METHODS = new Set(['tools/call', 'tasks/result']);
const MAX_PENDING = 10_000;

export type RequestId = string | number;

/**
 * Reads the answers of a server before its client does, which refuses an answer as a whole for one odd part, when the
 * effect has happened. One for a connection: it pairs answers with requests.
 */
export class AnswerReader {
  private readonly pending = new Map<string, string>();

  /** @returns the id of the request when its answer is the result of a tool */
  sent(message: unknown): RequestId | undefined {
    if (!isJSONRPCRequest(message)) return undefined;
    this.pending.set(String(message.id), message.method);
    const [oldest] = this.pending.keys();
    if (this.pending.size > MAX_PENDING && oldest !== undefined) this.pending.delete(oldest);
    return RESULT_METHODS.has(message.method) ? message.id : undefined;
  }

  isWaiting(id: RequestId): boolean {
    return this.pending.has(String(id));
  }

  /** The ids of requests for results of tools that are not answered. */
  get waiting(): readonly RequestId[] {
    return [...this.pending].flatMap(([id, method]) => (RESULT_METHODS.has(method) ? [Number(id)] : []));
  }

  /**
   * The message in a text, exact where it is the result of a tool. `id`: of the one request that it answers, where the
   * transport knows it. @throws SyntaxError for what is not JSON
   */
  read(text: string, id?: RequestId): unknown {
    const plain: unknown = JSON.parse(text);
    const exact = () => parseExactJson(text);
    if (!Array.isArray(plain)) return this.message(plain, exact, id);
    return plain.map((message, index) => this.message(message, () => Reflect.get(Object(exact()), index), id));
  }

  /** The error of a request whose answer came and cannot be read. */
  unreadable(id: RequestId, why: string): JSONRPCMessage {
    this.pending.delete(String(id));
    return { jsonrpc: '2.0', id, error: { code: -32_603, message: `The MCP server answered with what is no answer: ${why}` } };
  }

  private message(plain: unknown, exact: () => unknown, id: RequestId | undefined): unknown {
    if (!isFields(plain) || typeof plain['method'] === 'string') return plain;
    const named = plain['id'];
    const known = (typeof named === 'string' || typeof named === 'number') && this.isWaiting(named) ? named : id;
    const method = this.pending.get(String(known));
    if (known === undefined || method === undefined) return plain;
    this.pending.delete(String(known));
    if (RESULT_METHODS.has(method)) return { jsonrpc: '2.0', id: known, ...ending(fieldsOf(exact())) };
    return method === 'tasks/get' ? exact() : plain;
  }
}

function ending({ error, result }: Readonly<Record<string, unknown>>): object {
  if (error !== undefined && error !== null && error !== false) return { error: errorOf(error) };
  const type = fieldsOf(result)['resultType'];
  if (isFields(result) && (type === 'input_required' || isFields(result['task']))) return { result };
  return { result: type === 'task' ? carriedTask(fieldsOf(result)) : carried(result) };
}

function errorOf(error: unknown): object {
  const { code, message, data } = fieldsOf(error);
  return {
    code: Number.isSafeInteger(code) ? code : -32_603,
    message: typeof message === 'string' ? message : typeof error === 'string' ? error : JSON.stringify(error),
    ...(data === undefined ? {} : { data }),
  };
}
