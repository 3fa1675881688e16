import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WsAdapter } from '@nestjs/platform-ws';
import type { WebSocketServer } from 'ws';
import { writeRawHttpError } from '../../platform/http/client-error.js';

export const STREAM_PATH = '/v1/stream';

/**
 * Nest's adapter without its message protocol: it would parse every frame a second time, drop what it does not know
 * without a word, and log each client's faults as errors. `stream-session.ts` reads the frames itself.
 */
export class StreamAdapter extends WsAdapter {
  private disposed = false;

  override bindMessageHandlers(): void {}

  override bindErrorHandler(server: WebSocketServer): WebSocketServer {
    server.on('wsClientError', (error, socket) => writeRawHttpError(socket, '400 Bad Request', error.message));
    return server.on('error', (error) => this.logger.error(error));
  }

  /** Nest's listener cuts every connection that asks for another upgrade; whoever asked is told why first. */
  protected override ensureHttpServerExists(port: number, httpServer?: Server) {
    const server = super.ensureHttpServerExists(port, httpServer);
    server?.prependListener('upgrade', (request: IncomingMessage, socket: Duplex) => {
      if (this.disposed) writeRawHttpError(socket, '503 Service Unavailable', 'This gateway is going away; connect again', 'overloaded');
      else refuseOtherUpgrades(request, socket);
    });
    return server;
  }

  /** Nest takes its own listener off: upgrades that were on their way would wait for an answer for ever. */
  override async dispose(): Promise<void> {
    this.disposed = true;
    await super.dispose();
  }
}

/** Some clients ask for HTTP/2 (`Upgrade: h2c`) unless they are told not to. */
function refuseOtherUpgrades({ url = '', headers }: IncomingMessage, socket: Duplex): void {
  if (url.split('?', 1)[0] === STREAM_PATH && headers.upgrade?.toLowerCase() === 'websocket') return;
  writeRawHttpError(
    socket,
    '400 Bad Request',
    `Expected the header Upgrade only for a WebSocket at ${STREAM_PATH}; got ${JSON.stringify(headers.upgrade)}. This server speaks HTTP/1.1: tell your client to ask for no other version`,
  );
}
