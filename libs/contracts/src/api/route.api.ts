import type { z } from 'zod';
import type { ErrorCode } from '../errors/error.catalog.js';
import type { Scope } from '../values/principal.js';

/** The groups of operations, and what each is about. */
export const TAGS = {
  calls: 'One tool call: submit, read, wait for its end, cancel, run again; lists of calls, and changes to many.',
  batches: 'The calls of one model turn, answered in the order of the calls.',
  schedules: 'Calls that are submitted at due times.',
  approvals: 'Calls that wait for a person.',
  tools: 'The catalog of tools that a key may use.',
  sessions: 'How freely the calls of a session may act, what people granted to it and said to it.',
  events: 'What happens to calls, sessions and workers, stored and live.',
  keys: 'The API keys of a tenant: make, rotate, revoke.',
  login: 'Sign in to the dashboard with an OpenID provider.',
  audit: 'Administrative acts: who changed what, and when.',
  webhooks: 'Programs that are sent what happens to calls.',
  mcp: 'The Model Context Protocol endpoint.',
  workers: 'Workers in any language: they run the tools that they announce.',
  operations: 'Numbers, workers, queues, health.',
  documents: 'This document and the pages for people.',
} as const;
export type Tag = keyof typeof TAGS;

/** Every header of an answer that says something about the request; what each means. */
export const RESPONSE_HEADERS = {
  Location: 'Path of what was created.',
  'Preference-Applied': 'Which preferences of `Prefer` were honoured (RFC 7240), such as `wait=10`.',
  'Accept-Ranges': '`bytes`: a part can be asked for with `Range`.',
  'Content-Range': 'Which bytes these are, and of how many (RFC 9110).',
  'RateLimit-Policy': 'How many requests the key may make in how many seconds; absent without a limit.',
  RateLimit: 'How many requests are left (`r`), and the seconds until they are renewed (`t`); absent without a limit.',
  'Retry-After': 'Seconds after which the same request may succeed; absent where waiting does not help.',
  'WWW-Authenticate': 'How to authenticate: `Bearer`.',
  'Mcp-Session-Id': 'The MCP session that the request has opened.',
  'Set-Cookie': 'The cookie of the login, or its end.',
  Upgrade: '`websocket`: the protocol that the path speaks.',
} as const;
export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/**
 * One HTTP route: what it takes, returns and requires. `ROUTES` has all of them, each under its `operationId`. The gateway's
 * controllers (`@Endpoint`), the client's methods and the OpenAPI document are derived from these definitions.
 */
export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** With `{name}` for parameters. */
  readonly path: string;
  /** A POST whose repetition has no further effect, by itself or by its Idempotency-Key: clients may retry it. Other methods always are. */
  readonly idempotent?: true;
  readonly tag: Tag;
  readonly summary: string;
  /** More than the summary says. */
  readonly description?: string;
  /** The scope a key needs; absent = no key at all. */
  readonly scope?: Scope;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** JSON unless it says otherwise. */
  readonly bodyMediaType?: string;
  /** The body may be left out; then it counts as `{}`. */
  readonly bodyOptional?: true;
  readonly responses: Readonly<Record<string, RouteResponse>>;
  /** What is special to the route; what may happen at any route like it is documented anyway. */
  readonly problems: readonly ErrorCode[];
}

export interface RouteResponse {
  readonly description: string;
  /** Absent = no body. */
  readonly schema?: z.ZodType;
  /** JSON unless it says otherwise. */
  readonly mediaType?: string;
  /** The same as server-sent events, for those who ask for `text/event-stream`. */
  readonly events?: z.ZodType;
  /** Besides the rate limit of the key. */
  readonly headers?: readonly ResponseHeader[];
}

/** The query of a route as its handler gets it: parsed, with defaults. */
export type QueryOf<R extends Route> = R extends { readonly query: infer S extends z.ZodType } ? z.output<S> : never;
/** The body of a route as its handler gets it: parsed, with defaults. */
export type BodyOf<R extends Route> = R extends { readonly body: infer S extends z.ZodType } ? z.output<S> : never;
/** The parameters of a route's path. */
export type ParamsOf<R extends Route> = R extends { readonly params: infer S extends z.ZodType } ? z.input<S> : never;
/** The query of a route as a client writes it. */
export type QueryInputOf<R extends Route> = R extends { readonly query: infer S extends z.ZodType } ? z.input<S> : never;
/** The headers of a route beside the API key. */
export type HeadersOf<R extends Route> = R extends { readonly headers: infer S extends z.ZodType } ? z.input<S> : never;
/** The body of a route as a client writes it. */
export type BodyInputOf<R extends Route> = R extends { readonly body: infer S extends z.ZodType } ? z.input<S> : never;
type SchemaIn<Response> = Response extends { readonly schema: infer S extends z.ZodType } ? z.output<S> : never;
/** The body of a route's successful response; `never` without one. */
export type ResponseOf<R extends Route> = SchemaIn<R['responses'][keyof R['responses']]>;

/** What may be wrong with a body, and with a key or token: `unavailable` when the keys of its issuer cannot be read. */
export const BODY = ['malformed_json', 'invalid_request', 'payload_too_large', 'unsupported_media_type'] as const;
export const KEY = ['unauthenticated', 'forbidden', 'too_many_requests', 'unavailable'] as const;
/** What may happen to any request, also without a key: a malformed one, one of another site's page, a fault of the gateway. */
export const ANY_REQUEST = ['invalid_request', 'origin_refused', 'internal'] as const;
/** Of a path that has other methods, so no operation can list it. */
export const WITHOUT_OPERATION = ['method_not_allowed'] as const;
/** What a submission may be answered with. `cancelled`: with its session, while it was judged. `resource_not_found`: a call that it names. */
export const SUBMISSION = [
  ...BODY,
  ...KEY,
  'not_found',
  'invalid_arguments',
  'policy_denied',
  'hook_rejected',
  'rate_limited',
  'quota_exceeded',
  'unavailable',
  'resource_not_found',
  'cancelled',
  'conflict',
  'idempotency_key_reused',
  'overloaded',
] as const;
