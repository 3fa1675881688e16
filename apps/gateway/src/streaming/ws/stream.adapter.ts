import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { INestApplicationContext, WsMessageHandler } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import { WORKER_PATH } from '#contracts';
import type { WebSocket, WebSocketServer } from 'ws';
import { LARGE_SIZE, type FairTurns } from '../../platform/fair-turns.service.js';
import { writeRawHttpError } from '../../platform/http/client-error.js';
import { StreamRequest } from './stream-request.js';
import { frameSize, type StreamSession } from './stream-session.js';

export const STREAM_PATH = '/v1/stream';

/**
 * Maps the `op` of a frame to the `@SubscribeMessage` handler of that name. Nest's own mapping drops malformed and unknown
 * frames silently and sends results of handlers past the outbox; here the session answers such frames and handlers return
 * nothing.
 */
export class StreamAdapter extends WsAdapter {
  private disposed = false;

  constructor(
    app: INestApplicationContext,
    private readonly sessionOf: (client: WebSocket) => StreamSession | undefined,
    private readonly turns: Pick<FairTurns, 'next'>,
  ) {
    super(app);
  }

  /**
   * Calls the handlers of one socket in the order of its frames. All pass the same guard and pipes, so they also begin in that order.
   * A large frame is read in a turn of its tenant, as a large body over HTTP.
   */
  override bindMessageHandlers(client: WebSocket, handlers: readonly WsMessageHandler[]): void {
    const session = this.sessionOf(client);
    if (session === undefined) return;
    const byOp = new Map(handlers.map(({ message, callback }) => [message, callback]));
    client.on('message', (data, isBinary) =>
      session.flow.inOrder(() => {
        const read = () => {
          const frame = session.receive(data, isBinary);
          if (frame) session.flow.track(Promise.resolve(byOp.get(frame.op)?.(new StreamRequest(session, frame))));
        };
        // Frames that may come without a key are smaller.
        if (frameSize(data) <= LARGE_SIZE) read();
        else void session.flow.holdDuring(this.turns.next(session.tenantId).then(read));
      }),
    );
  }

  override bindErrorHandler(server: WebSocketServer): WebSocketServer {
    server.on('wsClientError', (error, socket) => writeRawHttpError(socket, '400 Bad Request', error.message));
    return server.on('error', (error) => this.logger.error(error));
  }

  /** Limits Nest's listener to WebSocket upgrades: for others it would destroy the connection before its response is delivered. */
  protected override ensureHttpServerExists(port: number, httpServer?: Server) {
    const server = super.ensureHttpServerExists(port, httpServer);
    if (server === undefined) return undefined;
    const listeners = server.listeners('upgrade');
    server.removeAllListeners('upgrade').on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (this.disposed) writeRawHttpError(socket, '503 Service Unavailable', 'This gateway is going away; connect again', 'overloaded');
      else if (!isStreamUpgrade(request)) rejectUpgrade(request, socket);
      else for (const listener of listeners) Reflect.apply(listener, server, [request, socket, head]);
    });
    return server;
  }

  /** Answers pending and later upgrades with 503. */
  override async dispose(): Promise<void> {
    this.disposed = true;
    await super.dispose();
  }
}

function isStreamUpgrade({ url = '', headers }: IncomingMessage): boolean {
  return [STREAM_PATH, WORKER_PATH].includes(url.split('?', 1)[0] ?? '') && headers.upgrade?.toLowerCase() === 'websocket';
}

/** Rejects other upgrades; some clients send `Upgrade: h2c` by default. */
function rejectUpgrade({ headers }: IncomingMessage, socket: Duplex): void {
  writeRawHttpError(
    socket,
    '400 Bad Request',
    `Expected the header Upgrade only for a WebSocket at ${STREAM_PATH} or ${WORKER_PATH}; got ${JSON.stringify(headers.upgrade)}. This server speaks HTTP/1.1: tell your client to ask for no other version`,
  );
}
