import { createServer, request as forward, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startFauxqs, type FauxqsServer } from 'fauxqs';

/** Answers a request itself (true), or lets it pass. */
export type S3Fault = (request: IncomingMessage, response: ServerResponse, pass: () => Promise<Answer>) => Promise<boolean> | boolean;

export interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}

export const S3_BUCKET = 'archive';

export const S3_CREDENTIALS = { AWS_ACCESS_KEY_ID: 'test-access-key', AWS_SECRET_ACCESS_KEY: 'test-secret-of-the-archive' };

/**
 * An S3-compatible server (fauxqs, in memory) behind a front that adds what no such server of npm has, conditional creates,
 * and the faults that a test sets. Signatures are not checked.
 */
export class S3Server {
  /** Undefined: every request passes. */
  fault: S3Fault | undefined;
  readonly requests: string[] = [];
  private readonly creating = new Map<string, Promise<unknown>>();

  private constructor(
    private readonly backend: FauxqsServer,
    private readonly front: Server,
  ) {}

  static async start(): Promise<S3Server> {
    const backend = await startFauxqs({ port: 0, logger: false });
    backend.createBucket(S3_BUCKET);
    const front = createServer();
    const server = new S3Server(backend, front);
    front.on('request', (request, response) => void server.serve(request, response).catch(() => response.destroy()));
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.front.address() as AddressInfo).port}`;
  }

  /** Environment for a process that uses this server. */
  get env(): Record<string, string> {
    return { ...S3_CREDENTIALS, AWS_ENDPOINT_URL_S3: this.endpoint, AWS_REGION: 'us-east-1' };
  }

  async stop(): Promise<void> {
    this.front.closeAllConnections();
    await new Promise((resolve) => this.front.close(resolve));
    await this.backend.stop();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests.push(`${request.method} ${request.url}`);
    const body = await read(request);
    const pass = () => this.pass(request, body);
    if ((await this.fault?.(request, response, pass)) === true) return;
    const answer = await pass();
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  /** A conditional create of a name waits for the one before it. */
  private async pass(request: IncomingMessage, body: Buffer): Promise<Answer> {
    if (request.method !== 'PUT' || request.headers['if-none-match'] !== '*') return this.send(request, body);
    const path = request.url?.split('?')[0] ?? '';
    const before = this.creating.get(path) ?? Promise.resolve();
    const created = before.then(async () => ((await this.holds(request)) ? PRECONDITION_FAILED : this.send(request, body)));
    this.creating.set(path, created);
    return created;
  }

  private send({ method, url, headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>, body: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = forward({ host: '127.0.0.1', port: this.backend.port, method, path: url, headers }, (answer) => {
        read(answer).then((bytes) => resolve({ status: answer.statusCode ?? 500, headers: answer.headers, body: bytes }), reject);
      });
      sent.on('error', reject).end(body);
    });
  }

  private async holds({ url = '', headers: { host } }: IncomingMessage): Promise<boolean> {
    const { status } = await this.send({ method: 'HEAD', url: url.split('?')[0], headers: { host } }, Buffer.alloc(0));
    return status === 200;
  }
}

const PRECONDITION_FAILED: Answer = {
  status: 412,
  headers: { 'content-type': 'application/xml' },
  body: Buffer.from('<?xml version="1.0"?><Error><Code>PreconditionFailed</Code><Message>It exists</Message></Error>'),
};

async function read(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
