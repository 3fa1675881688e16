import type { BodyInputOf, HeadersOf, ParamsOf, QueryInputOf, Route } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import { ToolyardError } from '../toolyard-error.js';

interface CommonInput extends RequestOptions {
  /** Longest wait at the gateway before its response; added to the time limit of an attempt. */
  readonly waitMs?: number | undefined;
  /** `false`: one attempt. Default: retries if the route is idempotent. */
  readonly retry?: false;
}

/** Input of a request to a route, by the route's definition. */
export type RouteInput<R extends Route> = CommonInput &
  (R extends { readonly params: object } ? { readonly params: ParamsOf<R> } : object) &
  (R extends { readonly query: object } ? { readonly query?: QueryInputOf<R> } : object) &
  (R extends { readonly headers: object } ? { readonly headers?: HeadersOf<R> } : object) &
  (R extends { readonly bodyOptional: true }
    ? { readonly body?: BodyInputOf<R> }
    : R extends { readonly body: object }
      ? { readonly body: BodyInputOf<R> }
      : object);

type QueryValue = string | number | boolean | readonly string[] | undefined;

/** Input of a request to any route. */
export interface AnyRouteInput extends CommonInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

/** True if a retry is safe: the method is idempotent (RFC 9110, 9.2.2), or the route's definition declares it. */
export function isIdempotent({ method, idempotent }: Route): boolean {
  return method !== 'post' || idempotent === true;
}

/** Path and query below `baseUrl`. Parameters are encoded or rejected, so that an id cannot name another route. */
export function urlOf({ path }: Route, { params = {}, query = {} }: AnyRouteInput): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encode(name, params[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, typeof value === 'object' ? value.join(',') : String(value));
  }
  const text = search.toString();
  return text === '' ? filled : `${filled}?${text}`;
}

/** Encodes a parameter. @throws ToolyardError for `.` and `..`, which URL parsers resolve even if their dots are encoded */
function encode(name: string, param: string): string {
  if (!/^\.{1,2}$/.test(param)) return encodeURIComponent(param);
  throw new ToolyardError('invalid_request', `${name}: expected an id, got ${JSON.stringify(param)}, which would name another path`);
}
