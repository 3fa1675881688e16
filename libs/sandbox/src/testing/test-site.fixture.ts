import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface TestSite {
  /** `127.0.0.1:<port>` */
  readonly host: string;
  /** Paths in the order they were requested. */
  readonly requests: string[];
  /** Connections that are open now. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

/** A real HTTP server on loopback that answers with `answer`. */
export async function testSite(answer: (request: IncomingMessage, response: ServerResponse, path: string) => void): Promise<TestSite> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    answer(request, response, path);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    host: `127.0.0.1:${port}`,
    requests,
    connections: () => new Promise((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count)))),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
