import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** Whether the connection is kept is up to the HTTP server, which closes it while it drains. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['connection', 'content-length']);

/** A client that has not taken this much is cut when there is more for it, as a slow reader of events is. */
const UNREAD_BYTES = 1024 * 1024;

/** Sends what the SDK of the protocol answered. A stream is sent piece by piece, and cancelled when the client disconnects. */
export async function sendWebResponse(reply: FastifyReply, response: Response): Promise<void> {
  reply.status(response.status);
  for (const [name, value] of response.headers) if (!OWN_HEADERS.has(name)) reply.header(name, value);
  if (response.body === null) return void reply.send();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (!isStream) return void reply.send(await response.text());
  reply.raw.socket?.setNoDelay(true);
  // The head goes out before the first message, which may be long in coming.
  reply.raw.once('pipe', () => reply.raw.flushHeaders());
  reply.send(readAtOnce(response.body));
}

/** Reads a stream that nothing slows down as it comes, so that what the client has not taken is counted. */
function readAtOnce(body: ReadableStream<Uint8Array>): Readable {
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  const out = new Readable({
    read: () => {},
    destroy: (error, done) => {
      cancel();
      done(error);
    },
  });
  const pump = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return void out.push(null);
      if (out.readableLength > UNREAD_BYTES) return void out.destroy(new Error('The client reads too slowly'));
      out.push(value);
    }
  };
  pump().catch((error: unknown) => out.destroy(error instanceof Error ? error : undefined));
  return out;
}
