import type { z } from 'zod';
import type { ErrorCode } from '../errors/error.catalog.js';
import type { Scope } from './principal.js';

/** What an HTTP route takes and gives. The OpenAPI document is made from this table, and a test holds the gateway to it. */
export interface Route {
  readonly operationId: string;
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** With `{name}` for parameters. */
  readonly path: string;
  readonly tag: 'calls' | 'approvals' | 'tools' | 'sessions' | 'events' | 'operations';
  readonly summary: string;
  /** The scope a key needs; absent = no key at all. */
  readonly scope?: Scope;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
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
}

/** What may be wrong with a body, and with a key. */
export const BODY = ['malformed_json', 'invalid_request', 'payload_too_large', 'unsupported_media_type'] as const;
export const KEY = ['unauthenticated', 'forbidden', 'too_many_requests'] as const;
