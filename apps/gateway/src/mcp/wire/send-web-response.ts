import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** Whether the connection is kept is up to the HTTP server, which closes it while it drains. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['connection', 'content-length']);

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
  reply.send(Readable.from(response.body));
}
