import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** Headers left to the HTTP server, which closes connections while it drains. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['connection', 'content-length']);

/** Most unread bytes of a client; more data closes its connection, as for a slow reader of events. */
const UNREAD_BYTES = 1024 * 1024;

/** Sends the SDK's response. A stream is sent piece by piece, and cancelled when the client disconnects. */
export async function sendWebResponse(reply: FastifyReply, response: Response): Promise<void> {
  reply.status(response.status);
  for (const [name, value] of response.headers) if (!OWN_HEADERS.has(name)) reply.header(name, value);
  if (response.body === null) return void reply.send();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (!isStream) return void reply.send(await response.text());
  reply.raw.socket?.setNoDelay(true);
  // Sends the head before the first message, which may take long.
  reply.raw.once('pipe', () => reply.raw.flushHeaders());
  reply.send(readAtOnce(response.body));
}

/** Reads a stream without backpressure, so that the bytes that the client has not read are counted. */
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
