import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpMcpMessage {
  readonly id?: number | string;
  readonly method: string;
}

/** Answers a request, else leaves it to the server. `message`: absent for GET. */
export type Answering = (message: HttpMcpMessage | undefined, request: IncomingMessage, response: ServerResponse) => boolean;

export interface HttpMcpServer {
  readonly url: string;
  readonly host: string;
  /** How often its tool `t` ran. */
  readonly effects: () => number;
  /** Methods of the requests, in their order. */
  readonly methods: readonly string[];
  close(): void;
}

const RESULTS: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'http', version: '1' } },
  'tools/list': { tools: [{ name: 't', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
};

/** The answer to a message as a server of revision 2025-06-18 writes it. */
export function usualAnswer({ id, method }: HttpMcpMessage): string {
  const result = Object.hasOwn(RESULTS, method) ? RESULTS[method] : undefined;
  return JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32_601, message: 'unknown' } }) });
}

/** A server over HTTP, whose answers the test writes where it wants to. */
export async function httpMcpServer(answering: Answering): Promise<HttpMcpServer> {
  const methods: string[] = [];
  let effects = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client under test wrote it
      const message = request.method === 'POST' ? (JSON.parse(Buffer.concat(chunks).toString()) as HttpMcpMessage) : undefined;
      methods.push(message?.method ?? request.method ?? '');
      if (answering(message, request, response)) return;
      if (message === undefined) return void response.writeHead(405).end();
      if (message.method === 'tools/call') effects += 1;
      if (message.id === undefined) return void response.writeHead(202).end();
      response.setHeader('content-type', 'application/json').end(usualAnswer(message));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens at an address
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://${host}/mcp`, host, effects: () => effects, methods, close };
}
