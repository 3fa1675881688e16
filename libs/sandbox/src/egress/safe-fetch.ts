import { isUtf8 } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import { Agent, request, type Dispatcher } from 'undici';
import { EgressError, displayUrl, toEgressError } from './egress-error.js';
import type { EgressPolicy } from './egress-policy.js';
import { boundedConnector } from './pinned-connector.js';
import { ACCEPTED_ENCODINGS, MAX_BODY_BYTES, discard, readBody } from './read-body.js';
import { RedirectCookies } from './redirect-cookies.js';

export interface FetchOptions {
  readonly signal: AbortSignal;
  /** True if the body of a response with this content type is needed; bodies of error responses are always read. */
  readonly wantsBody: (contentType: string) => boolean;
  /** Most bytes of the body after decompression; on the wire the same, but at least 5 MiB. Default 5 MiB. */
  readonly maxBytes?: number;
  /** More headers for a hop to this place. */
  readonly headers?: (url: URL) => Readonly<Record<string, string>>;
}

export interface FetchedDocument {
  /** URL of the response, after all redirects. */
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly contentType: string;
  /** Length stated by the server; undefined if absent. */
  readonly contentLength?: number;
  /** Header by which browsers go on to another address after some seconds. */
  readonly refresh?: string;
  /** Decompressed; empty when it was not wanted. */
  readonly body: Buffer;
  /** The body was cut at the download limit. */
  readonly truncated: boolean;
}

/** An answer with its headers; several of one name are joined by a comma. */
export interface HttpAnswer extends FetchedDocument {
  readonly headers: Readonly<Record<string, string>>;
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'HEAD' | 'OPTIONS';

export interface SendOptions {
  readonly method: HttpMethod;
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Most bytes of the body after decompression; on the wire the same, but at least 5 MiB. */
  readonly maxBytes: number;
  /** Name of the server in errors where its address may be confidential. */
  readonly label?: string;
}

const MAX_REDIRECTS = 10;
const SILENCE_TIMEOUT_MS = 30_000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const HEADERS = {
  accept: 'text/html,application/xhtml+xml,application/json;q=0.9,text/plain;q=0.9,*/*;q=0.5',
  'accept-encoding': ACCEPTED_ENCODINGS,
  'user-agent': 'Toolyard/0.1 (web_fetch)',
};

/**
 * GET and POST for addresses that others chose. Every hop is checked against the policy before it is requested, and each
 * connection is made to the very addresses that were checked. Nothing of one request (cookies, connections) reaches
 * another. Rejects with an EgressError, or with the reason of `signal`.
 */
export class SafeFetch {
  private readonly agent: Agent;

  constructor(private readonly policy: EgressPolicy) {
    this.agent = new Agent({
      connect: boundedConnector(policy),
      // No keep-alive: a connection made for one check must not serve a later one.
      pipelining: 0,
      headersTimeout: SILENCE_TIMEOUT_MS,
      bodyTimeout: SILENCE_TIMEOUT_MS,
    });
  }

  async get(text: string, options: FetchOptions): Promise<FetchedDocument> {
    let url = this.policy.check(text);
    const cookies = new RedirectCookies();
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      const answer = await this.once(url, cookies, options);
      if (!(answer instanceof URL)) return answer;
      url = answer;
    }
    throw new EgressError('failed', `Could not fetch ${displayUrl(text)}: more than ${MAX_REDIRECTS} redirects`);
  }

  /** Sends one request to one checked address. Returns redirects without following them. */
  async send(text: string, { method, signal, headers, body, maxBytes, label }: SendOptions): Promise<HttpAnswer> {
    const url = this.policy.check(text);
    try {
      const response = await request(url, { dispatcher: this.agent, method, headers: { ...headers }, signal, body });
      const document = await documentOf(url, response, { wantsBody: () => true, maxBytes });
      return { ...document, headers: joined(response.headers) };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw toEgressError(error, label ?? url.host);
    }
  }

  /** Ends all connections; requests that run fail. Idempotent. */
  async close(): Promise<void> {
    await this.agent.destroy();
  }

  /** The document, or the checked place it was redirected to. */
  private async once(url: URL, cookies: RedirectCookies, options: FetchOptions): Promise<FetchedDocument | URL> {
    try {
      const cookie = cookies.headerFor(url);
      const headers = { ...HEADERS, ...(cookie === undefined ? {} : { cookie }), ...options.headers?.(url) };
      const response = await request(url, { dispatcher: this.agent, method: 'GET', headers, signal: options.signal });
      const location = header(response, 'location');
      if (!REDIRECTS.has(response.statusCode) || location === undefined || location.trim() === '')
        return await documentOf(url, response, options);
      discard(response.body);
      cookies.keep(url, [response.headers['set-cookie'] ?? []].flat());
      return this.target(location, url);
    } catch (error) {
      if (options.signal.aborted) throw options.signal.reason;
      throw toEgressError(error, url.host);
    }
  }

  /** The checked place of a redirect. The fragment stays, unless the redirect has its own. */
  private target(location: string, from: URL): URL {
    const to = this.policy.check(location, from);
    if (to.hash === '') to.hash = from.hash;
    return to;
  }
}

async function documentOf(
  url: URL,
  response: Dispatcher.ResponseData,
  options: Pick<FetchOptions, 'wantsBody' | 'maxBytes'>,
): Promise<FetchedDocument> {
  const contentType = contentTypeOf(response);
  const length = Number(header(response, 'content-length') ?? 'unknown');
  const refresh = header(response, 'refresh');
  const ok = response.statusCode >= 200 && response.statusCode < 300;
  const wanted = !ok || options.wantsBody(contentType);
  if (!wanted) discard(response.body);
  const { body, truncated } = wanted
    ? await readBody(response.body, [response.headers['content-encoding'] ?? []].flat().join(', '), options.maxBytes ?? MAX_BODY_BYTES)
    : { body: Buffer.alloc(0), truncated: false };
  return {
    url: url.href,
    status: response.statusCode,
    statusText: STATUS_CODES[response.statusCode] ?? '',
    contentType,
    ...(Number.isSafeInteger(length) ? { contentLength: length } : {}),
    ...(refresh === undefined ? {} : { refresh }),
    body,
    truncated,
  };
}

function joined(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [name, text(Array.isArray(value) ? value.join(', ') : value)]),
  );
}

/** Of several the last one that is a type, with the charset of one like it before, as in browsers (WHATWG, Fetch). */
function contentTypeOf({ headers }: Dispatcher.ResponseData): string {
  const all = [headers['content-type'] ?? []].flat().flatMap((it) => text(it).split(','));
  const types = all.filter((it) => it.includes('/') && !it.includes('*/*'));
  const essence = (type: string) => type.split(';', 1)[0]?.trim().toLowerCase();
  const last = types.at(-1) ?? all[0] ?? '';
  return types.findLast((it) => essence(it) === essence(last) && /charset\s*=/i.test(it)) ?? last;
}

function header(response: Dispatcher.ResponseData, name: string): string | undefined {
  const value = response.headers[name];
  const first = Array.isArray(value) ? value[0] : value;
  return first === undefined ? undefined : text(first);
}

/** A header with raw UTF-8, which was read as Latin-1. */
function text(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) && bytes.toString('latin1') === value ? bytes.toString() : value;
}
