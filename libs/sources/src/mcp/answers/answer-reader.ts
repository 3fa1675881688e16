import { isJSONRPCRequest, PARSE_ERROR, parseJSONRPCMessage, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { countParts, mayBeInexact, parseExactJson } from '#contracts';
import { MessageBudget } from '#timing';
import { fieldsOf, isFields, type Fields } from '../../fields.js';
import { isSessionGoneError } from '../lost-session.js';
import { carryResult, carriedTask } from './carried-result.js';
import { readDiscovery, readHandshake } from './handshake.js';
import { answeredId, isNotification, MAX_LIST_PARTS, MAX_MESSAGE_PARTS, NO_ANSWER, TOO_MANY_PARTS } from './large-message.js';
import { readJson, type ReadJson } from './lenient-json.js';
import { ListPages } from './list-pages.js';
import { isEmptyList, withoutNulls } from './tolerant-fields.js';
import { readToolList } from './tool-list.js';

/** Their results are those of a tool. */
const RESULT_METHODS = new Set(['tools/call', 'tasks/result']);
const ENVELOPED = ['content', 'structuredContent'];
const MAX_PENDING = 10_000;
/** Most messages of a batch: they are read without a turn for others. */
const MAX_BATCH = 100;
/** Characters whose repair costs as much as a message. */
const REPAIRED_A_MESSAGE = 512;
/** Further messages that a request costs, which is checked and answered. */
const REQUEST_COST = 2;
/** False for an item of a list that a server wrote into its log. */
const isMessage = (item: unknown): boolean => isFields(item) && ['jsonrpc', 'method', 'result', 'error'].some((field) => field in item);
/** Begins a message, or several. */
const BEGINNING = /^\s*[{[]/;
const BYTE_ORDER_MARK = /^\uFEFF/;

export type RequestId = string | number;

/** Text of a message. */
interface Text {
  readonly length: number;
  /** Parsed message, with the original digits of numbers. */
  readonly exact: () => unknown;
}

interface Sent {
  readonly id: RequestId;
  readonly method: string;
}

/**
 * Reads the messages of a server before its client, which would refuse a whole message for one odd part, although the effect
 * has happened or other parts are good. Each connection has its own reader, which pairs answers with requests.
 */
export class AnswerReader {
  private readonly pending = new Map<string, Sent>();
  readonly pages = new ListPages();
  /** Oddities of the server in any of its answers, for the operator. */
  readonly problems = new Set<string>();

  /** `budget`: for what messages cost besides their lines and bytes */
  constructor(private readonly budget = new MessageBudget()) {}

  /** @returns the id of a request */
  sent(message: unknown): RequestId | undefined {
    if (!isJSONRPCRequest(message)) return undefined;
    const { id, method, params } = message;
    this.pending.set(String(id), { id, method });
    const [oldest] = this.pending.keys();
    if (this.pending.size > MAX_PENDING && oldest !== undefined) this.pending.delete(oldest);
    if (method === 'tools/list') this.pages.asks(String(id), fieldsOf(params)['cursor']);
    return id;
  }

  isWaiting(id: RequestId): boolean {
    return this.pending.has(String(id));
  }

  /** The ids of requests that are not answered. */
  get waiting(): readonly RequestId[] {
    return [...this.pending.values()].map(({ id }) => id);
  }

  /**
   * The messages in a text, exact where they are results of tools; what is no message is left out. `id`: of the one request
   * that it answers, where the transport knows it. @throws SyntaxError for what is not JSON, and names no request that waits;
   * MessageFlood beyond the budget, RangeError for an answer with too many parts whose request is not known
   */
  read(text: string, id?: RequestId): JSONRPCMessage[] {
    const given = text.replace(BYTE_ORDER_MARK, '');
    const parts = countParts(given, MAX_LIST_PARTS);
    // Pages of lists have more, and come only when they are asked for.
    this.budget.spend(0, 0, Math.min(parts, MAX_MESSAGE_PARTS));
    if (parts > MAX_MESSAGE_PARTS) {
      const answered = id ?? this.answeredBy(given);
      const isList = this.pending.get(String(answered))?.method === 'tools/list';
      if (parts > MAX_LIST_PARTS || !isList) return this.tooManyParts(given, answered);
    }
    try {
      const read = readJson(given, (characters) => this.budget.spend(characters / REPAIRED_A_MESSAGE));
      const messages = this.messages(read, id);
      if (read.json !== given && messages.length > 0) this.problems.add('its messages are no strict JSON');
      return messages;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      const answered = this.answeredBy(given);
      if (answered === undefined) throw error;
      return [this.unreadable(answered, 'it is not JSON')];
    }
  }

  private tooManyParts(text: string, id: RequestId | undefined): JSONRPCMessage[] {
    if (id !== undefined) return [this.unreadable(id, TOO_MANY_PARTS)];
    if (isNotification(text)) return [];
    if (BEGINNING.test(text)) throw new RangeError(TOO_MANY_PARTS);
    throw new SyntaxError('it is not JSON');
  }

  /** The request that a text answers which is not parsed. */
  private answeredBy(text: string): RequestId | undefined {
    const named = answeredId(text, text);
    return named === undefined ? undefined : this.pending.get(String(JSON.parse(named)))?.id;
  }

  private messages({ json, value: plain, isCut }: ReadJson, id: RequestId | undefined): JSONRPCMessage[] {
    // A log of the messages of both sides.
    if (isCut && fieldsOf(plain)['method'] !== undefined) return [];
    const { length } = json;
    let whole: unknown;
    const exact = () => (whole ??= mayBeInexact(json) ? parseExactJson(json) : plain);
    if (!Array.isArray(plain)) return this.message(plain, { length, exact }, id);
    const count = plain.filter(isMessage).length;
    if (count > MAX_BATCH) this.budget.stop(`it sent a batch of more than ${MAX_BATCH} messages`);
    this.budget.spend(count);
    return plain.flatMap((message, index) => {
      const exactOne = (): unknown => Reflect.get(Object(exact()), index);
      return this.message(message, { length, exact: exactOne }, id);
    });
  }

  /** The error of a request whose answer came and cannot be read. */
  unreadable(id: RequestId, why: string): JSONRPCMessage {
    const { method } = this.pending.get(String(id)) ?? {};
    this.pending.delete(String(id));
    if (method === 'tools/list' && this.pages.isLater(String(id))) return { jsonrpc: '2.0', id, result: this.noPage(id, why) };
    return { jsonrpc: '2.0', id, error: { code: -32_603, message: `${NO_ANSWER}${why}` } };
  }

  private message(plain: unknown, text: Text, id: RequestId | undefined): JSONRPCMessage[] {
    if (!isFields(plain)) return [];
    if (typeof plain['method'] === 'string') {
      if (plain['id'] !== undefined) this.budget.spend(REQUEST_COST);
      return parsed(asked(plain, plain['method']));
    }
    const named = plain['id'];
    const known = (typeof named === 'string' || typeof named === 'number') && this.isWaiting(named) ? named : (id ?? this.meant(plain));
    const sent = this.pending.get(String(known));
    if (sent === undefined) return parsed(plain);
    this.pending.delete(String(sent.id));
    const [answer] = parsed({ jsonrpc: '2.0', id: sent.id, ...this.ending(sent, plain, text) });
    return [answer ?? this.unreadable(sent.id, 'it has neither a result nor an error')];
  }

  /** Request of an error without an id, if only one waits. Errors with other codes may be answers to notifications. */
  private meant({ id = null, error = null }: Fields): RequestId | undefined {
    const [only, ...others] = this.waiting;
    return id === null && fieldsOf(error)['code'] === PARSE_ERROR && others.length === 0 ? only : undefined;
  }

  private ending({ id, method }: Sent, plain: Fields, { exact, length: characters }: Text): object {
    const { error, result } = plain;
    const hasResult = result !== undefined && result !== null;
    if (hasResult && isEmptyError(error)) this.problems.add('it writes an empty error beside its results');
    else if (error !== undefined && error !== null && error !== false) {
      const read = errorOf(error);
      const isLater = method === 'tools/list' && !isSessionGoneError(read) && this.pages.isLater(String(id));
      return isLater ? { result: this.noPage(id, read.message) } : { error: read };
    }
    if (RESULT_METHODS.has(method)) return { result: toolResult(this.resultIn(fieldsOf(exact()))) };
    if (method === 'tasks/get') return { result: withKind(fieldsOf(exact())['result']) };
    if (method === 'initialize' && isFields(result)) return { result: readHandshake(result) };
    if (method === 'server/discover' && isFields(result)) return { result: readDiscovery(result) };
    if (method === 'tools/list' && (isFields(result) || Array.isArray(result)))
      return { result: readToolList(this.listIn(result), (cursor, tools) => this.pages.next(String(id), cursor, { characters, tools })) };
    return { result: withKind(result) };
  }

  private resultIn(message: Fields): unknown {
    if (message['result'] !== undefined || !ENVELOPED.some((field) => message[field] !== undefined)) return message['result'];
    this.problems.add('it writes results without the message around them');
    return message;
  }

  private listIn(result: Fields | readonly unknown[]): Fields {
    if (isFields(result)) return result;
    this.problems.add('it writes its list of tools without the result around it');
    return { tools: result };
  }

  /** Empty page in place of a later page of a list that is an error: the tools before it are offered. */
  private noPage(id: RequestId, why: string) {
    this.pages.refused(String(id), why);
    return readToolList({}, () => undefined);
  }
}

/** A message with a method is a notification, unless its id can be answered. */
function asked({ id, params, ...rest }: Fields, method: string): object {
  const isRequest = (typeof id === 'string' || typeof id === 'number') && !method.startsWith('notifications/');
  const { _meta, ...given } = withoutNulls(fieldsOf(params));
  const others = method === 'notifications/progress' ? progressOf(given) : given;
  const read = isFields(_meta) ? { ...others, _meta } : others;
  return { ...rest, jsonrpc: '2.0', ...(isRequest ? { id } : {}), ...(isFields(params) ? { params: read } : {}) };
}

/** Tokens of ours are numbers. */
function progressOf({ progressToken: token, progress, total, message, ...rest }: Fields): Fields {
  const number = (value: unknown) => (typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : value);
  const read = number(total);
  return {
    ...rest,
    progressToken: typeof token === 'string' && /^\d{1,15}$/.test(token) ? Number(token) : token,
    progress: number(progress),
    ...(typeof read === 'number' ? { total: read } : {}),
    ...(message === undefined ? {} : { message: typeof message === 'string' ? message : JSON.stringify(message) }),
  };
}

function parsed(message: object): JSONRPCMessage[] {
  try {
    return [parseJSONRPCMessage(message)];
  } catch {
    return [];
  }
}

/** Revision 2026-07-28 asks each result for its kind; older ones skip it. */
function withKind(result: unknown): unknown {
  return isFields(result) && typeof result['resultType'] !== 'string' ? { ...result, resultType: 'complete' } : result;
}

function toolResult(result: unknown): unknown {
  const type = fieldsOf(result)['resultType'];
  if (isFields(result) && (type === 'input_required' || isFields(result['task']))) return result;
  return type === 'task' ? carriedTask(fieldsOf(result)) : carryResult(result);
}

/** True for an error without a text and a code, with which some libraries fill the field. */
function isEmptyError(error: unknown): boolean {
  if (!isFields(error)) return error === '' || error === 0 || isEmptyList(error);
  const { code = 0, message } = withoutNulls(error);
  return Number(code) === 0 && (message === undefined || (typeof message === 'string' && message.trim() === ''));
}

function errorOf(error: unknown) {
  const { code, message, data } = fieldsOf(error);
  return {
    code: Number.isSafeInteger(code) ? Number(code) : -32_603,
    message: typeof message === 'string' ? message : typeof error === 'string' ? error : JSON.stringify(error),
    ...(data === undefined ? {} : { data }),
  };
}
