import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HookInput } from '#contracts';

export interface WebhookRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly input: HookInput;
}

/** A server that webhooks are sent to: it remembers all of them and answers as configured, by path. */
export interface WebhookServer {
  readonly port: number;
  readonly url: string;
  readonly requests: WebhookRequest[];
  /** A verdict is sent as JSON; a function does what it wants with the response. Paths without an answer get 204. */
  on(path: string, answer: object | ((request: WebhookRequest, response: ServerResponse) => void)): void;
  to(path: string): WebhookRequest[];
  /** How many are open. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

export async function startWebhookServer(): Promise<WebhookServer> {
  const requests: WebhookRequest[] = [];
  const answers = new Map<string, object | ((request: WebhookRequest, response: ServerResponse) => void)>();
  const server = createServer(async (message, response) => {
    let text = '';
    for await (const chunk of message) text += String(chunk);
    const request = { path: message.url ?? '', headers: message.headers, text, input: JSON.parse(text) as HookInput };
    requests.push(request);
    const answer = answers.get(request.path);
    if (typeof answer === 'function') answer(request, response);
    else if (answer === undefined) response.writeHead(204).end();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    requests,
    on: (path, answer) => void answers.set(path, answer),
    connections: () => new Promise((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count)))),
    to: (path) => requests.filter((request) => request.path === path),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
