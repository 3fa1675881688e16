import type { z } from 'zod';
import type { ErrorCode } from '../errors/error.catalog.js';
import type { Scope } from '../values/principal.js';

/** Groups of operations with their descriptions. */
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

/** Response headers with information about the request, and their descriptions. */
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
 * One HTTP route: its inputs, outputs and requirements. `ROUTES` has all of them, each under its `operationId`. The gateway's
 * controllers (`@Endpoint`), the client's methods and the OpenAPI document are derived from these definitions.
 */
export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** Path with `{name}` for parameters. */
  readonly path: string;
  /**
   * True for a POST whose repetition has no further effect, by itself or by its Idempotency-Key: clients may retry it. Other
   * methods are always idempotent.
   */
  readonly idempotent?: true;
  readonly tag: Tag;
  readonly summary: string;
  /** Description beyond the summary. */
  readonly description?: string;
  /** Scope that the key needs; absent = no key at all. */
  readonly scope?: Scope;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Media type of the body. Default: JSON. */
  readonly bodyMediaType?: string;
  /** True for an optional body, which defaults to `{}`. */
  readonly bodyOptional?: true;
  readonly responses: Readonly<Record<string, RouteResponse>>;
  /** Problems specific to the route; common ones are documented automatically. */
  readonly problems: readonly ErrorCode[];
}

export interface RouteResponse {
  readonly description: string;
  /** Schema of the body; absent = no body. */
  readonly schema?: z.ZodType;
  /** Media type of the body. Default: JSON. */
  readonly mediaType?: string;
  /** Schema of server-sent events, for requests of `text/event-stream`. */
  readonly events?: z.ZodType;
  /** Headers besides the rate limit of the key. */
  readonly headers?: readonly ResponseHeader[];
}

/** Query of a route for its handler: parsed, with defaults. */
export type QueryOf<R extends Route> = R extends { readonly query: infer S extends z.ZodType } ? z.output<S> : never;
/** Body of a route for its handler: parsed, with defaults. */
export type BodyOf<R extends Route> = R extends { readonly body: infer S extends z.ZodType } ? z.output<S> : never;
/** Parameters of a route's path. */
export type ParamsOf<R extends Route> = R extends { readonly params: infer S extends z.ZodType } ? z.input<S> : never;
/** Query of a route as client input. */
export type QueryInputOf<R extends Route> = R extends { readonly query: infer S extends z.ZodType } ? z.input<S> : never;
/** Headers of a route besides the API key. */
export type HeadersOf<R extends Route> = R extends { readonly headers: infer S extends z.ZodType } ? z.input<S> : never;
/** Body of a route as client input. */
export type BodyInputOf<R extends Route> = R extends { readonly body: infer S extends z.ZodType } ? z.input<S> : never;
type SchemaIn<Response> = Response extends { readonly schema: infer S extends z.ZodType } ? z.output<S> : never;
/** Body of a route's successful response; `never` without one. */
export type ResponseOf<R extends Route> = SchemaIn<R['responses'][keyof R['responses']]>;

/** Problems of a body, and of a key or token: `unavailable` if the keys of its issuer cannot be read. */
export const BODY = ['malformed_json', 'invalid_request', 'payload_too_large', 'unsupported_media_type'] as const;
export const KEY = ['unauthenticated', 'forbidden', 'too_many_requests', 'unavailable'] as const;
/** Problems of any request, also without a key: a malformed one, one from a page of another site, an internal error. */
export const ANY_REQUEST = ['invalid_request', 'origin_refused', 'internal'] as const;
/** Problem of a path with other methods, which no operation can list. */
export const WITHOUT_OPERATION = ['method_not_allowed'] as const;
/** Problems of a submission. `cancelled`: with its session, during the evaluation. `resource_not_found`: a call that it names. */
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
