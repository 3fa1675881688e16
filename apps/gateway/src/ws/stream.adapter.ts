import { WsAdapter } from '@nestjs/platform-ws';
import type { WebSocketServer } from 'ws';

/**
 * Nest's adapter without its message protocol: it would parse every frame a second time, drop what it does not know
 * without a word, and log each client's faults as errors. `stream-socket.ts` reads the frames itself.
 */
export class StreamAdapter extends WsAdapter {
  override bindMessageHandlers(): void {}

  override bindErrorHandler(server: WebSocketServer): WebSocketServer {
    return server.on('error', (error) => this.logger.error(error));
  }
}
