import { createConnection } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import fastify from 'fastify';
import { sendWebResponse } from './send-web-response.js';

const CHUNK = new Uint8Array(64 * 1024);
/** More chunks than socket buffers hold for a client that does not read. */
const CHUNKS = 1024;

describe('sendWebResponse', () => {
  const server = fastify();
  afterEach(() => server.close());

  it('disconnects a client that does not read instead of buffering its answer', async () => {
    let sent = 0;
    let cut: (() => void) | undefined;
    const isCut = new Promise<string>((resolve) => (cut = () => resolve('cut')));
    let filled: (() => void) | undefined;
    const isFilled = new Promise<string>((resolve) => (filled = () => resolve('all was kept')));
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const send = (): void => {
          if (sent++ === CHUNKS) return filled?.();
          try {
            controller.enqueue(CHUNK);
          } catch {
            return;
          }
          setImmediate(send);
        };
        send();
      },
      cancel: () => cut?.(),
    });
    server.get('/', async (_request, reply) => {
      await sendWebResponse(reply, new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
      return reply;
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
    const address = server.server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no address');
    const client = createConnection({ port: address.port, host: '127.0.0.1' }).pause();
    client.on('error', () => {});
    await once(client, 'connect');
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await Promise.race([isCut, isFilled])).toBe('cut');
    client.destroy();
  });
});
