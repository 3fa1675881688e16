import { LIMITS } from '#contracts';
import type { GatewayApi } from '../api/gateway.api.js';
import type { ToolyardClientOptions } from '../client-options.js';
import { ToolyardError } from '../toolyard-error.js';
import { StreamConnection, type StreamConnectionOptions } from './stream-connection.js';

/** The sockets of a client: as few as its readers fit on. */
export class StreamConnections {
  private readonly open: StreamConnection[] = [];

  constructor(
    private readonly options: ToolyardClientOptions,
    private readonly gateway: GatewayApi,
  ) {}

  /** Throws a TypeError where there is no WebSocket. */
  forOneMore(): StreamConnection {
    const free = this.open.find(({ size }) => size < LIMITS.filtersPerSocket);
    if (free) return free;
    const connection = new StreamConnection(this.connectionOptions());
    this.open.push(connection);
    return connection;
  }

  close(): void {
    for (const connection of this.open.splice(0)) connection.close();
  }

  private connectionOptions(): StreamConnectionOptions {
    const WebSocket = this.options.WebSocket ?? globalThis.WebSocket;
    if (WebSocket === undefined)
      throw new TypeError(
        'Streams need a WebSocket and this runtime has none: install the package ws and give `new ToolyardClient({ …, WebSocket })`',
      );
    const { baseUrl, apiKey } = this.options;
    return {
      url: `${baseUrl.replace(/\/+$/, '').replace(/^http/, 'ws')}/v1/stream`,
      apiKey,
      WebSocket,
      diagnose: () =>
        this.gateway.ready({ timeoutMs: 5000 }).then(
          () => undefined,
          (error: unknown) => (error instanceof ToolyardError ? error : undefined),
        ),
    };
  }
}
