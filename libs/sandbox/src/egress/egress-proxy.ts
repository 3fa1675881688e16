import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { EgressError, toEgressError } from './egress-error.js';
import type { EgressPolicy } from './egress-policy.js';
import { pinnedLookup } from './pinned-connector.js';

const CONNECT_TIMEOUT_MS = 10_000;
const SILENCE_TIMEOUT_MS = 60_000;
const MOST_CONNECTIONS = 128;
const MOST_REFUSALS = 100;
/** Headers of one hop (RFC 9110, 7.6.1). */
const HOP_HEADERS = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
];

/**
 * HTTP proxy on loopback for a program that makes its own requests, such as a browser: checks each request and tunnel against
 * the policy, and connects to exactly the checked addresses. Requires a password against use by other programs of the machine.
 */
export class EgressProxy {
  readonly username = 'toolyard';
  readonly password = randomBytes(18).toString('base64url');
  private readonly server: Server;
  private readonly sockets = new Set<Duplex>();
  private readonly refusals = new LRUCache<string, Refusal>({ max: MOST_REFUSALS });
  private received = 0;

  /** `mostBytes` may come from servers after each `allow`; then all connections are cut. */
  constructor(
    private policy: EgressPolicy,
    private readonly mostBytes: number,
  ) {
    this.server = createServer((incoming, outgoing) => this.forward(incoming, outgoing));
    this.server.maxConnections = MOST_CONNECTIONS;
    this.server.on('connection', (socket) => this.own(socket));
    this.server.on('connect', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => this.tunnel(incoming, socket, head));
    this.server.on('clientError', (_error, socket) => socket.destroy());
  }

  /** The address for clients, once it listens. */
  async listen(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of a server that listens on a port
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Starts to count the bytes from zero. Connections that another policy allowed are cut. */
  allow(policy: EgressPolicy): void {
    this.received = 0;
    if (!policy.isSameAs(this.policy)) for (const socket of this.sockets) socket.destroy();
    this.policy = policy;
  }

  get exhausted(): boolean {
    return this.received > this.mostBytes;
  }

  /** Reason why the last requests to this host were rejected or failed; undefined without one. `host` as in a URL. */
  refusalOf(host: string): Refusal | undefined {
    return this.refusals.get(host);
  }

  /** Cuts all connections. Idempotent. */
  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }

  private forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const url = this.checked(incoming, incoming.url ?? '', (status, text, headers) => outgoing.writeHead(status, headers).end(text));
    if (url === undefined) return;
    const upstream = request({
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? 80 : url.port,
      method: incoming.method,
      path: url.pathname + url.search,
      headers: { ...endToEnd(incoming.headers), host: url.host },
      lookup: pinnedLookup(this.policy, url.port),
      agent: false,
    });
    const fail = (error: unknown): void => {
      if (outgoing.writableEnded) return;
      const { message, kind } = this.refused(url.host, error);
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(kind === 'blocked' ? 403 : 502, { 'content-type': 'text/plain' }).end(message);
    };
    upstream.on('socket', (socket) => this.watch(socket));
    upstream.on('response', (response) => {
      response.on('error', () => outgoing.destroy());
      try {
        outgoing.writeHead(statusOf(response, url.host), endToEnd(response.headers));
      } catch (error) {
        fail(error);
        return;
      }
      response.pipe(outgoing);
    });
    upstream.on('error', fail);
    // A server that switches protocols gives neither a response nor an error.
    upstream.on('close', () => outgoing.headersSent || fail(new Error('the connection ended without a response')));
    outgoing.on('error', () => outgoing.destroy());
    outgoing.on('close', () => upstream.destroy());
    incoming.pipe(upstream);
  }

  private tunnel(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const answer = (status: number, text: string, headers: Readonly<Record<string, string>>): void => {
      const lines = Object.entries({ ...headers, connection: 'close', 'content-length': Buffer.byteLength(text) });
      socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`);
    };
    const url = this.checked(incoming, `https://${incoming.url ?? ''}`, answer);
    if (url === undefined) return;
    const port = url.port === '' ? 443 : Number(url.port);
    const upstream = connect({ host: url.hostname.replace(/^\[|\]$/g, ''), port, lookup: pinnedLookup(this.policy, url.port) });
    this.watch(upstream);
    const onFailed = (error: Error): void => {
      answer(502, this.refused(url.host, error).message, {});
      upstream.destroy();
    };
    upstream.once('error', onFailed);
    upstream.once('connect', () => {
      upstream.off('error', onFailed).on('error', () => upstream.destroy());
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('close', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
  }

  /** The URL that may be requested; otherwise the client gets its answer here. */
  private checked(incoming: IncomingMessage, text: string, answer: Answer): URL | undefined {
    const credentials = Buffer.from(`${this.username}:${this.password}`).toString('base64');
    if (incoming.headers['proxy-authorization'] !== `Basic ${credentials}`) {
      answer(407, 'This proxy serves one browser.', { 'proxy-authenticate': 'Basic realm="toolyard"' });
      return undefined;
    }
    if (this.exhausted) {
      answer(503, 'Too much was loaded.', {});
      return undefined;
    }
    try {
      return this.policy.check(text);
    } catch (error) {
      const host = URL.canParse(text) ? new URL(text).host : '';
      answer(403, this.refused(host, error).message, { 'content-type': 'text/plain' });
      return undefined;
    }
  }

  private refused(host: string, error: unknown): EgressError {
    const refusal = toEgressError(error, host);
    this.refusals.set(host, { blocked: refusal.kind !== 'failed', message: refusal.message });
    return refusal;
  }

  private watch(socket: Socket): void {
    this.own(socket);
    const waiting = setTimeout(() => socket.destroy(new Error('no connection in time')), CONNECT_TIMEOUT_MS);
    socket.once('connect', () => clearTimeout(waiting));
    socket.once('close', () => clearTimeout(waiting));
    socket.setTimeout(SILENCE_TIMEOUT_MS, () => socket.destroy());
    socket.on('data', (bytes: Buffer) => {
      this.received += bytes.length;
      if (this.exhausted) for (const open of this.sockets) open.destroy();
    });
  }

  private own(socket: Duplex): void {
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
  }
}

interface Refusal {
  /** True if rejected by the policy. Otherwise the network failed. */
  readonly blocked: boolean;
  readonly message: string;
}

type Answer = (status: number, text: string, headers: Readonly<Record<string, string>>) => void;

/** Status of a response. A server may send any three digits; only final statuses (RFC 9110, 15) can be passed on. */
function statusOf({ statusCode = 0 }: IncomingMessage, host: string): number {
  if (statusCode >= 200 && statusCode <= 599) return statusCode;
  throw new EgressError('failed', `Could not fetch from ${host}: the status ${statusCode} of the response is not valid`);
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_HEADERS.includes(name)));
}
