import type { BodyInputOf, HeadersOf, ParamsOf, QueryInputOf, Route } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import { ToolyardError } from '../toolyard-error.js';

interface CommonInput extends RequestOptions {
  /** How long the gateway may hold the request before it answers; added to the time limit of an attempt. */
  readonly waitMs?: number | undefined;
  /** `false`: one attempt. Without it, requests that are idempotent by the route's definition are retried. */
  readonly retry?: false;
}

/** What a request to a route takes, by the route's definition. */
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

/** The same for any route. */
export interface AnyRouteInput extends CommonInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

/** Retrying is safe: the method is idempotent (RFC 9110, 9.2.2), or the route's definition says so. */
export function isIdempotent({ method, idempotent }: Route): boolean {
  return method !== 'post' || idempotent === true;
}

/** Path and query below `baseUrl`. Parameters are encoded or refused, so that an id cannot name another route. */
export function urlOf({ path }: Route, { params = {}, query = {} }: AnyRouteInput): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encode(name, params[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, typeof value === 'object' ? value.join(',') : String(value));
  }
  const text = search.toString();
  return text === '' ? filled : `${filled}?${text}`;
}

/** URL parsers resolve `.` and `..` also where their dots are encoded. @throws ToolyardError for both */
function encode(name: string, param: string): string {
  if (!/^\.{1,2}$/.test(param)) return encodeURIComponent(param);
  throw new ToolyardError('invalid_request', `${name}: expected an id, got ${JSON.stringify(param)}, which would name another path`);
}
