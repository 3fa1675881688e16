import { LIMITS, ROUTES } from '#contracts';
import type { ToolyardClientOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';
import { ToolyardError } from '../toolyard-error.js';
import { SseTransport } from './sse-transport.js';
import { StreamConnection } from './stream-connection.js';
import type { StreamTransport } from './stream-transport.js';
import type { SocketConstructor } from './socket.port.js';

/** Transports of a client's readers: as few WebSockets as their number allows, or server-sent events. */
export class TransportPool {
  private readonly open: StreamConnection[] = [];
  private readonly eventSource: SseTransport;
  private readonly WebSocket: SocketConstructor | undefined;

  constructor(
    private readonly options: ToolyardClientOptions,
    private readonly http: HttpTransport,
    private readonly diagnose: () => Promise<ToolyardError | undefined>,
  ) {
    this.eventSource = new SseTransport(http, http.retries);
    this.WebSocket = options.WebSocket === false ? undefined : (options.WebSocket ?? globalSocket());
  }

  /** Transport with room for one more reader. */
  acquire(): StreamTransport {
    const { WebSocket } = this;
    if (WebSocket === undefined) return this.eventSource;
    const free = this.open.find(({ size }) => size < LIMITS.filtersPerSocket);
    if (free) return free;
    const url = `${this.http.baseUrl.replace(/^http/, 'ws')}${ROUTES.openStream.path}`;
    const connection = new StreamConnection({
      url,
      apiKey: this.options.apiKey,
      WebSocket,
      diagnose: this.diagnose,
      retries: this.http.retries,
      onAnswer: () => this.http.noteAnswer(),
    });
    this.open.push(connection);
    return connection;
  }

  close(): void {
    this.eventSource.close();
    for (const connection of this.open.splice(0)) connection.close();
  }
}

/** Global WebSocket, which Node 20 lacks. */
function globalSocket(): SocketConstructor | undefined {
  return 'WebSocket' in globalThis ? globalThis.WebSocket : undefined;
}
