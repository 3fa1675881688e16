import type { SocketConstructor } from './stream/socket.port.js';

interface CommonOptions {
  /** Address of the gateway, with `http:` or `https:`. A path is kept, for gateways behind a prefix. */
  readonly baseUrl: string;
  /** Replacement of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * Replacement of the global WebSocket for streams. Node 20 has none: pass `WebSocket` of the package `ws`. Without any, or
   * with `false`, streams are server-sent events: one connection each, of which browsers open six per host.
   */
  readonly WebSocket?: SocketConstructor | false;
  /** Most retries of an idempotent request. Default: 5, but none while the first connection ever is refused or the host is unknown. */
  readonly retries?: number;
  /** Time limit of one attempt in ms, without the requested wait at the gateway. Default: 30,000. */
  readonly attemptTimeoutMs?: number;
}

/**
 * Authenticates with an API key, sent as a bearer token and never in a URL; or, on a page of the gateway itself, with the
 * person's login, whose cookie the browser sends.
 */
export type ToolyardClientOptions = CommonOptions &
  ({ readonly apiKey: string; readonly login?: undefined } | { readonly login: true; readonly apiKey?: undefined });

/** Options of every request. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time limit in ms for the request with all retries. Default: bounded by `retries` and `attemptTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
}
