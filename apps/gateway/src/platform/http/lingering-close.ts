import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Most bytes read from a client after its response, and the time after which its connection is destroyed. Tests change the time. */
export const LINGER = { bytes: 2 * 1024 * 1024, ms: 2_000 };

/** Connections whose client still sends after its response. */
const drains = new WeakMap<Duplex, InputDrain>();

/**
 * Sends a response, if given, and FIN. Reads and drops further input, then closes the connection. Closing at once would make
 * the kernel answer further bytes with RST, by which the client loses the response (RFC 9112, 9.6). A second response on the
 * same connection is dropped.
 */
export function closeLingering(socket: Duplex, answer?: string): void {
  const drain = drains.get(socket);
  if (drain === undefined) new InputDrain(socket, () => false).close(answer);
  else drain.close();
}

/** Response of a server that answers some requests before their bodies have arrived. Limits how much of the rest is read. */
export class LingeringResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Called by Node after the response was written, before a connection without keep-alive closes. */
  override detachSocket(socket: Socket): void {
    super.detachSocket(socket);
    const { req: request } = this;
    if (request.complete || socket.destroyed) return;
    const drain = new InputDrain(
      socket,
      () => request.complete,
      () => Reflect.deleteProperty(socket, 'destroySoon'),
    );
    socket.destroySoon = () => drain.close();
  }
}

/**
 * Reads and drops the input of a connection, until the input is complete and the connection reusable, or until the connection
 * is closed: by the client, or after `LINGER.ms`. Stops reading after `LINGER.bytes`: TCP's flow control then blocks the
 * client, which has the remaining time to read its response.
 */
class InputDrain {
  private bytes = 0;
  private isAttached = false;
  private isClosing = false;
  private readonly deadline: NodeJS.Timeout;

  constructor(
    private readonly socket: Duplex,
    private readonly isComplete: () => boolean,
    private readonly onStopped?: () => void,
  ) {
    drains.set(socket, this);
    this.deadline = setTimeout(() => socket.destroy(), LINGER.ms);
    socket.once('close', this.stop);
    // The first listener for `data` takes the connection from Node's native HTTP parser, which hangs for a paused connection.
    socket.pause().once('resume', this.attach).resume();
  }

  /** Closes the connection. Idempotent. */
  close(answer?: string): void {
    if (this.isClosing) return;
    this.isClosing = true;
    if (this.isAttached) this.attach();
    // The socket destroys itself after FIN from both sides.
    this.socket.end(answer);
  }

  private readonly attach = (): void => {
    this.isAttached = true;
    // The HTTP parser reports each chunk after a malformed one as another error. Without an error it gets each chunk before
    // `drop`.
    if (this.isClosing) this.socket.removeAllListeners('data');
    this.socket.on('data', this.drop);
  };

  private readonly drop = ({ byteLength }: Buffer): void => {
    if (this.isComplete()) {
      this.stop();
      return;
    }
    this.bytes += byteLength;
    if (this.bytes < LINGER.bytes) {
      // Resumes the socket, which the parser pauses for a request that is not read.
      this.socket.resume();
      return;
    }
    this.close();
    this.socket.pause();
  };

  private readonly stop = (): void => {
    clearTimeout(this.deadline);
    this.socket.off('resume', this.attach).off('data', this.drop).off('close', this.stop);
    drains.delete(this.socket);
    this.onStopped?.();
  };
}
