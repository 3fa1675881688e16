import type { SocketConstructor } from './stream/socket.port.js';

interface CommonOptions {
  /** The gateway's address, with `http:` or `https:`. A path is kept, for gateways behind a prefix. */
  readonly baseUrl: string;
  /** Replaces the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * Replaces the global one, for streams. Node 20 has none: pass `WebSocket` of the package `ws`. Without any, or with `false`,
   * streams are server-sent events: one connection each, of which browsers open six to a host.
   */
  readonly WebSocket?: SocketConstructor | false;
  /**
   * How often an idempotent request is retried; 5 by default, and by default not at all where the first connection ever is refused or
   * the host is unknown.
   */
  readonly retries?: number;
  /** Time limit of one attempt in ms, without the time it asks the gateway to wait; 30,000 by default. */
  readonly attemptTimeoutMs?: number;
}

/** With an API key, sent as a bearer token and never in a URL; or on a page of the gateway itself with the login of the person, whose cookie the browser sends. */
export type ToolyardClientOptions = CommonOptions &
  ({ readonly apiKey: string; readonly login?: undefined } | { readonly login: true; readonly apiKey?: undefined });

/** For every request. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time limit in ms for the request with all retries. Without it, `retries` and `attemptTimeoutMs` are the bound. */
  readonly timeoutMs?: number | undefined;
}
