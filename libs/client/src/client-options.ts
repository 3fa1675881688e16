import type { SocketConstructor } from './stream/socket.port.js';

export interface ToolyardClientOptions {
  /** Where the gateway is, with `http:` or `https:`; a path is kept, for gateways behind a prefix. */
  readonly baseUrl: string;
  /** Sent as a bearer token, never in a URL. */
  readonly apiKey: string;
  /** Instead of the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * For streams, instead of the global one. Node 20 has none: give it `WebSocket` of the package `ws`. Without any, or with
   * `false`, streams are server-sent events: one connection each, of which browsers open six to a host.
   */
  readonly WebSocket?: SocketConstructor | false;
  /** How often a request that is safe to repeat is repeated after its first failure; 5 without. */
  readonly retries?: number;
  /** How long one attempt of a request may take, besides what it asks the gateway to wait; 30,000 without. */
  readonly attemptTimeoutMs?: number;
}

/** For every request. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** For the whole of it, repetitions included; without, `retries` and `attemptTimeoutMs` are the bound. */
  readonly timeoutMs?: number | undefined;
}
