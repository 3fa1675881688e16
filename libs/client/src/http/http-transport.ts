import type { z } from 'zod';
import { Problem } from '#contracts';
import type { RequestOptions, ToolyardClientOptions } from '../client-options.js';
import { ToolyardError } from '../toolyard-error.js';
import { backoffMs, retryAfterMs } from './backoff.js';
import { abortError, pause, signalOf } from './deadline.js';

const RETRIES = 5;
const ATTEMPT_TIMEOUT_MS = 30_000;
/** A gateway that asks for more than this is not waited for. */
const LONGEST_RETRY_AFTER_MS = 60_000;
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
interface Failure {
  readonly error: ToolyardError;
  readonly againInMs?: number;
}

/** HTTP with the key, deadlines and repetitions. Everything that goes wrong is a ToolyardError. */
export class HttpTransport {
  private readonly baseUrl: string;
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
    const response = await this.request(request, 'application/json');
    return understand(schema, await bodyOf(response, request), response.status);
  }

  async nothing(request: HttpRequest): Promise<void> {
    const response = await this.request(request, 'application/json');
    await bodyOf(response, request);
  }

  /** The answer itself, its body unread. Rejects with the problem of any status that is not 2xx. */
  async request(request: HttpRequest, accept: string): Promise<Response> {
    const signal = signalOf(request);
    const retries = request.repeatable ? (this.options.retries ?? RETRIES) : 0;
    for (let n = 1; ; n += 1) {
      const answer = await this.attempt(request, accept, signal);
      if (!('error' in answer)) return answer;
      if (n > retries || answer.againInMs === undefined) throw answer.error;
      await pause(backoffMs(n, Math.random(), answer.againInMs), signal);
    }
  }

  private async attempt(
    { method, path, query, body, headers, waitMs = 0 }: HttpRequest,
    accept: string,
    signal: AbortSignal | undefined,
  ): Promise<Response | Failure> {
    const limit = AbortSignal.timeout((this.options.attemptTimeoutMs ?? ATTEMPT_TIMEOUT_MS) + waitMs);
    try {
      const response = await this.send(`${this.baseUrl}${path}${queryText(query)}`, {
        method,
        headers: {
          accept,
          authorization: `Bearer ${this.options.apiKey}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        redirect: 'error',
      });
      if (response.ok) return response;
      const error = await problemOf(response);
      const asked = retryAfterMs(response.headers.get('retry-after'), Date.now()) ?? error.problem?.retryAfterMs ?? 0;
      return RETRYABLE.has(response.status) && asked <= LONGEST_RETRY_AFTER_MS ? { error, againInMs: asked } : { error };
    } catch (cause) {
      if (signal?.aborted) throw abortError(signal);
      const why = limit.aborted ? 'it did not answer in time' : reasonOf(cause);
      return { error: new ToolyardError('unreachable', `No answer from ${this.baseUrl}: ${why}`, undefined, { cause }), againInMs: 0 };
    }
  }
}

/** A value in the form of `schema`, or `protocol`. Unknown fields are left out: newer gateways may send more. */
export function understand<S extends z.ZodType>(schema: S, value: unknown, status: number): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined ? '' : ` (${issue.path.join('.') || 'the whole'}: ${issue.message})`;
  throw new ToolyardError(
    'protocol',
    `The answer with status ${status} does not have the documented form${where}; is this a Toolyard gateway of this version?`,
  );
}

async function bodyOf(response: Response, { signal }: HttpRequest): Promise<unknown> {
  const text = await response.text().catch((cause: unknown) => {
    if (signal?.aborted) throw abortError(signal);
    throw new ToolyardError('unreachable', `The answer broke off: ${reasonOf(cause)}`, undefined, { cause });
  });
  return text === '' ? undefined : jsonOf(text, response.status);
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

/** `fetch` of Node says only "fetch failed"; its cause tells why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const deeper = cause instanceof Error && cause.message !== '' ? cause.message : undefined;
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  return deeper ?? code ?? error.message;
}
