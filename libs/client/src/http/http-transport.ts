import type { z } from 'zod';
import { Problem } from '#contracts';
import type { RequestOptions, ToolyardClientOptions } from '../client-options.js';
import { ToolyardError } from '../toolyard-error.js';
import { backoffMs, retryAfterMs } from './backoff.js';
import { abortError, sleep, signalOf } from './deadline.js';

const RETRIES = 5;
const ATTEMPT_TIMEOUT_MS = 30_000;
/** A gateway that asks for more than this is not waited for. */
const MAX_RETRY_AFTER_MS = 60_000;
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface HttpRequest extends RequestOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `baseUrl`, its parts already encoded. */
  readonly path: string;
  readonly query?: Query | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the gateway was asked to wait before it answers. */
  readonly waitMs?: number | undefined;
  /** Whether doing it twice is doing it once; only then is it repeated. */
  readonly repeatable: boolean;
}

/** `againInMs` is there when trying again may help: not before that. */
type Answer<T> = { readonly value: T } | { readonly error: ToolyardError; readonly againInMs?: number };

/** HTTP with the key, deadlines and repetitions. Everything that goes wrong is a ToolyardError. */
export class HttpTransport {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  private readonly send: typeof globalThis.fetch;

  constructor(private readonly options: ToolyardClientOptions) {
    if (!URL.canParse(options.baseUrl) || !/^https?:$/.test(new URL(options.baseUrl).protocol))
      throw new TypeError(`baseUrl: expected an http(s) URL such as http://127.0.0.1:7411, got ${JSON.stringify(options.baseUrl)}`);
    if (/[^\x21-\x7e]/.test(options.apiKey) || options.apiKey === '') throw new TypeError('apiKey: expected visible ASCII characters');
    this.baseUrl = options.baseUrl.replace(/\/+$/, '');
    // A browser's fetch refuses to be called as a method of another object.
    this.send = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  }

  /** The answer's body in the form of `schema`. */
  async json<S extends z.ZodType>(request: HttpRequest, schema: S): Promise<z.output<S>> {
    const { status, text } = await this.request(request, 'application/json', textOf);
    return parseResponse(schema, jsonOf(text, status), status);
  }

  /** For answers without a body. */
  async nothing(request: HttpRequest): Promise<void> {
    await this.request(request, 'application/json', textOf);
  }

  async bytes(request: HttpRequest, accept: string): Promise<Uint8Array> {
    return this.request(request, accept, async (response) => new Uint8Array(await response.arrayBuffer()));
  }

  /** A body that goes on for as long as it likes; only its head has a time limit. Abort the signal to leave it. */
  async endless(request: HttpRequest, accept: string): Promise<ReadableStream<Uint8Array> | null> {
    return this.request(request, accept, (response) => Promise.resolve(response.body));
  }

  private async request<T>(request: HttpRequest, accept: string, read: (response: Response) => Promise<T>): Promise<T> {
    const signal = signalOf(request);
    const retries = request.repeatable ? (this.options.retries ?? RETRIES) : 0;
    for (let n = 1; ; n += 1) {
      const answer = await this.attempt(request, accept, signal, read);
      if ('value' in answer) return answer.value;
      if (n > retries || answer.againInMs === undefined) throw answer.error;
      await sleep(backoffMs(n, Math.random(), answer.againInMs), signal);
    }
  }

  /** Once, with its time limit; throws only what ends the whole request. */
  private async attempt<T>(
    request: HttpRequest,
    accept: string,
    signal: AbortSignal | undefined,
    read: (response: Response) => Promise<T>,
  ): Promise<Answer<T>> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), (this.options.attemptTimeoutMs ?? ATTEMPT_TIMEOUT_MS) + (request.waitMs ?? 0));
    try {
      const init = this.initOf(request, accept, signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]));
      const response = await this.send(`${this.baseUrl}${request.path}${queryText(request.query)}`, init);
      if (response.ok) return { value: await read(response) };
      const error = await problemOf(response);
      const asked = retryAfterMs(response.headers.get('retry-after'), Date.now()) ?? error.problem?.retryAfterMs ?? 0;
      return RETRYABLE.has(response.status) && asked <= MAX_RETRY_AFTER_MS ? { error, againInMs: asked } : { error };
    } catch (cause) {
      if (signal?.aborted) throw abortError(signal);
      if (cause instanceof ToolyardError) return { error: cause };
      const why = limit.signal.aborted ? 'it did not answer in time' : reasonOf(cause);
      return { error: new ToolyardError('unreachable', `No answer from ${this.baseUrl}: ${why}`, undefined, { cause }), againInMs: 0 };
    } finally {
      clearTimeout(timer);
    }
  }

  private initOf({ method, body, headers }: HttpRequest, accept: string, signal: AbortSignal): RequestInit {
    return {
      method,
      headers: {
        accept,
        authorization: `Bearer ${this.options.apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
      redirect: 'error',
    };
  }
}

async function textOf(response: Response): Promise<{ status: number; text: string }> {
  return { status: response.status, text: await response.text() };
}

/** A value in the form of `schema`, or `protocol`. Unknown fields are left out: newer gateways may send more. */
export function parseResponse<S extends z.ZodType>(schema: S, value: unknown, status: number): z.output<S> {
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

function queryText(query: Query | undefined): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined) continue;
    params.set(name, typeof value === 'object' ? value.join(',') : String(value));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** `fetch` of Node says only "fetch failed"; its cause tells why. Not by class: an error may come from another realm. */
function reasonOf(error: unknown): string {
  const cause = typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined;
  return textIn(cause, 'message') ?? textIn(cause, 'code') ?? textIn(error, 'message') ?? String(error);
}

function textIn(value: unknown, name: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const text: unknown = Reflect.get(value, name);
  return typeof text === 'string' && text !== '' ? text : undefined;
}
