import type { z } from 'zod';
import { LOGIN_HEADER, Problem, type ResponseOf, type Route } from '#contracts';
import type { ToolyardClientOptions } from '../client-options.js';
import { ToolyardError } from '../toolyard-error.js';
import { backoffMs, retryAfterMs } from './backoff.js';
import { isWrongAddress, reasonOf } from './connection-failure.js';
import { abortError, signalOf, sleep } from './deadline.js';
import { isIdempotent, urlOf, type AnyRouteInput, type RouteInput } from './route-request.js';

const RETRIES = 5;
const ATTEMPT_TIMEOUT_MS = 30_000;
/** Longest `Retry-After`; a longer one ends the retries. */
const MAX_RETRY_AFTER_MS = 60_000;
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** `retryAfterMs`: least delay of a retry. Absent: a retry cannot succeed. */
type AttemptResult<T> = { readonly value: T } | { readonly error: ToolyardError; readonly retryAfterMs?: number };

/** Reader of a successful response. */
interface Reader<T> {
  readonly accept: string;
  read(response: Response): Promise<T>;
}

/**
 * Sends requests to the routes of the contract, with the API key, deadlines and retries. Every failure is a ToolyardError.
 *
 * No `ky` or `p-retry`: neither has a deadline over all attempts, a limit for each, and full jitter on top of `Retry-After`.
 */
export class HttpTransport {
  /** Base URL without a trailing slash. */
  readonly baseUrl: string;
  /** Most retries of an idempotent request. */
  readonly retries: number;
  private readonly fetch: typeof globalThis.fetch;
  /** True once something has responded at this address: later failures may be a restart, and no wrong address. */
  private answered = false;

  constructor(private readonly options: ToolyardClientOptions) {
    if (!URL.canParse(options.baseUrl) || !/^https?:$/.test(new URL(options.baseUrl).protocol))
      throw new TypeError(`baseUrl: expected an http(s) URL such as http://127.0.0.1:7411, got ${JSON.stringify(options.baseUrl)}`);
    const { apiKey = '' } = options;
    if (options.login !== true && (/[^\x21-\x7e]/.test(apiKey) || apiKey === ''))
      throw new TypeError('apiKey: expected visible ASCII characters');
    this.baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.retries = options.retries ?? RETRIES;
    // A browser's fetch throws when it is called as a method of another object.
    this.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  }

  /** Resolves with the response's body, parsed by the schema of the route. */
  request<R extends Route>(route: R, input: RouteInput<R>): Promise<ResponseOf<R>>;
  request(route: Route, input: AnyRouteInput): Promise<unknown> {
    return this.retrying(route, input, jsonReader(documentedSchema(route)));
  }

  /** Like `request`, with another schema than the route's. */
  requestAs<S extends z.ZodType, R extends Route>(schema: S, route: R, input: RouteInput<R>): Promise<z.output<S>>;
  requestAs(schema: z.ZodType, route: Route, input: AnyRouteInput): Promise<unknown> {
    return this.retrying(route, input, jsonReader(schema));
  }

  /** Ignores the body of a successful response. */
  send<R extends Route>(route: R, input: RouteInput<R>): Promise<void>;
  async send(route: Route, input: AnyRouteInput): Promise<void> {
    await this.retrying(route, input, TEXT);
  }

  /** Unparsed body. */
  bytes<R extends Route>(route: R, input: RouteInput<R>, accept: string): Promise<Uint8Array>;
  bytes(route: Route, input: AnyRouteInput, accept: string): Promise<Uint8Array> {
    return this.retrying(route, input, { accept, read: async (response) => new Uint8Array(await response.arrayBuffer()) });
  }

  /** Body of any length: the time limit covers the headers alone. Aborting the signal closes it. */
  stream<R extends Route>(route: R, input: RouteInput<R>, accept: string): Promise<ReadableStream<Uint8Array> | null>;
  stream(route: Route, input: AnyRouteInput, accept: string): Promise<ReadableStream<Uint8Array> | null> {
    return this.retrying(route, input, { accept, read: (response) => Promise.resolve(response.body) });
  }

  private async retrying<T>(route: Route, input: AnyRouteInput, reader: Reader<T>): Promise<T> {
    const signal = signalOf(input);
    const retries = input.retry !== false && isIdempotent(route) ? this.retries : 0;
    for (let n = 1; ; n += 1) {
      const result = await this.attempt(route, input, signal, reader);
      if ('value' in result) return result.value;
      if (n > retries || result.retryAfterMs === undefined) throw result.error;
      await sleep(backoffMs(n, Math.random(), result.retryAfterMs), signal);
    }
  }

  /** Runs one attempt within its time limit. Throws only if the caller's signal was aborted. */
  private async attempt<T>(
    route: Route,
    input: AnyRouteInput,
    signal: AbortSignal | undefined,
    reader: Reader<T>,
  ): Promise<AttemptResult<T>> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), (this.options.attemptTimeoutMs ?? ATTEMPT_TIMEOUT_MS) + (input.waitMs ?? 0));
    try {
      const init = this.initOf(route, input, reader.accept, signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]));
      const response = await this.fetch(this.baseUrl + urlOf(route, input), init);
      this.noteAnswer();
      if (response.ok) return { value: await reader.read(response) };
      const error = await problemOf(response);
      const afterMs = retryAfterMs(response.headers.get('retry-after'), Date.now()) ?? error.problem?.retryAfterMs ?? 0;
      return RETRYABLE.has(response.status) && afterMs <= MAX_RETRY_AFTER_MS ? { error, retryAfterMs: afterMs } : { error };
    } catch (cause) {
      if (signal?.aborted) throw abortError(signal);
      if (cause instanceof ToolyardError) return { error: cause };
      const error = this.unreachable(limit.signal.aborted ? 'it did not answer in time' : reasonOf(cause), cause);
      return isWrongAddress(error) && this.options.retries === undefined ? { error } : { error, retryAfterMs: 0 };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Records a response at this address: later failures are outages. */
  noteAnswer(): void {
    this.answered = true;
  }

  /** Error for a missing response. */
  unreachable(why: string, cause?: unknown): ToolyardError {
    const neverAnswered = !this.answered;
    const advice = neverAnswered ? '. Nothing has answered there yet: check the address and whether the gateway runs' : '';
    return new ToolyardError('unreachable', `No answer from ${this.baseUrl}: ${why}${advice}`, undefined, { cause, neverAnswered });
  }

  private initOf(
    { method, bodyMediaType = 'application/json' }: Route,
    { body, headers = {} }: AnyRouteInput,
    accept: string,
    signal: AbortSignal,
  ): RequestInit {
    const { apiKey } = this.options;
    const all = new Headers({ accept, ...(apiKey === undefined ? { [LOGIN_HEADER]: '1' } : { authorization: `Bearer ${apiKey}` }) });
    if (body !== undefined) all.set('content-type', bodyMediaType);
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) all.set(name, value);
    return {
      method: method.toUpperCase(),
      headers: all,
      ...(body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) }),
      signal,
      redirect: 'error',
    };
  }
}

const TEXT: Reader<string> = { accept: 'application/json', read: (response) => response.text() };

function jsonReader(schema: z.ZodType): Reader<unknown> {
  return {
    accept: 'application/json',
    read: async (response) => parseResponse(schema, jsonOf(await response.text(), response.status), response.status),
  };
}

/** Schema of the successful responses, which is the same for all of a route. */
function documentedSchema({ path, responses }: Route): z.ZodType {
  const found = Object.values(responses).find(({ schema }) => schema !== undefined)?.schema;
  if (found === undefined) throw new TypeError(`${path} documents no body of a response: use send`);
  return found;
}

/** Value in the form of `schema`. Drops unknown fields: newer gateways may send more. @throws ToolyardError `protocol` */
function parseResponse<S extends z.ZodType>(schema: S, value: unknown, status: number): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined ? '' : ` (${issue.path.join('.') || 'the whole'}: ${issue.message})`;
  throw new ToolyardError(
    'protocol',
    `The answer with status ${status} does not have the documented form${where}; is this a Toolyard gateway of this version?`,
  );
}

function jsonOf(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ToolyardError('protocol', `The answer with status ${status} is not JSON; is this a Toolyard gateway?`, undefined, { cause });
  }
}

async function problemOf(response: Response): Promise<ToolyardError> {
  const text = await response.text();
  const parsed = Problem.safeParse(
    (response.headers.get('content-type') ?? '').includes('json') ? jsonOf(text, response.status) : undefined,
  );
  if (parsed.success) return ToolyardError.of(parsed.data);
  return new ToolyardError(
    'protocol',
    `Status ${response.status} without a problem document; is this a Toolyard gateway, or a proxy before it?`,
  );
}
