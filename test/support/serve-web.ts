import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WebServer {
  readonly url: string;
  close(): void;
}

/** Serves what answers a `Request` with a `Response`, on a free port of loopback. Streams are sent as they come. */
export async function serveWeb(answerTo: (request: Request) => Promise<Response>): Promise<WebServer> {
  const server: Server = createServer((request, response) => {
    void (async () => {
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      // Drops the length, which `fetch` sets again for the forwarded request: some versions reject a second one.
      const { 'content-length': _length, ...received } = request.headers;
      const headers = Object.entries(received).map(([name, value]): [string, string] => [name, String(value)]);
      const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
      const { method = 'GET' } = request;
      const answer = await answerTo(
        new Request(`http://${request.headers.host}${request.url}`, { method, headers, signal: gone.signal, ...body }),
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      for await (const chunk of answer.body ?? []) response.write(chunk);
      response.end();
    })().catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
