import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { BUNDLE_UPLOAD_BYTES, LIMITS, SCOPES, SourceRules, type Problem } from '#contracts';
import { LINGER } from '../../apps/gateway/src/platform/http/lingering-close.js';
import { eventually } from '../support/eventually.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';

const TENANT = 'early-answers';
const CALL_ID = '00-01JZ8C5W3Q4X9R7T2M6K8N0P1V';
const PIECE = Buffer.alloc(65_536, 'x');
/** Far more than the gateway reads, and than the kernel buffers. */
const MANY_PIECES = 800;
/** Bytes that the gateway's socket may have read before it is paused: those before the answer, and some chunks. */
const SLACK_BYTES = 4 * PIECE.length;

/** A body that Node itself sends. */
const EMPTY_CHUNKED = '0\r\n\r\n';

type Framing = 'Content-Length' | 'chunked';
type Case = readonly [status: number, what: string, head: string, code: string];

/** Requests whose answer does not depend on their bodies. `@` is the key of the tests. */
const KEPT_ALIVE: readonly Case[] = [
  [401, 'an output without a key', `PUT /v1/calls/${CALL_ID}/output\r\nContent-Type: text/plain`, 'unauthenticated'],
  [403, 'a bundle for a key that only reads', 'POST /v1/bundles\r\nContent-Type: application/octet-stream\r\n@reader', 'forbidden'],
  [
    403,
    'a page of another origin',
    'POST /v1/calls\r\nContent-Type: application/json\r\nOrigin: https://evil.example\r\n@',
    'origin_refused',
  ],
  [404, 'an unknown path', 'GET /v1/nothing\r\n@', 'resource_not_found'],
  [405, 'a wrong method', 'GET /v1/bundles\r\n@', 'method_not_allowed'],
  [415, 'an unknown media type', 'POST /v1/calls\r\nContent-Type: text/xml\r\n@', 'unsupported_media_type'],
  [429, 'a key over its rate', 'GET /v1/tools\r\n@limited', 'too_many_requests'],
  [503, 'a list without a database', 'GET /v1/calls\r\n@', 'history_unavailable'],
];

const CLOSED: readonly Case[] = [
  [415, 'a media type of another route', 'POST /v1/calls\r\nContent-Type: application/octet-stream\r\n@', 'unsupported_media_type'],
  [413, 'a body over the limit', 'POST /v1/calls\r\nContent-Type: application/json\r\n@', 'payload_too_large'],
  [
    400,
    'an upgrade to HTTP/2',
    'POST /v1/calls\r\nContent-Type: application/json\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n@',
    'invalid_request',
  ],
];

/** Starts of requests that never become one. */
const MALFORMED: readonly (readonly [status: number, what: string, start: string])[] = [
  [400, 'a malformed request line', 'nonsense\r\n\r\n'],
  [400, 'no Host', 'POST /v1/calls HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n'],
  [
    400,
    'a malformed chunk',
    'POST /v1/calls HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n',
  ],
  [431, 'headers over the limit', `POST /v1/calls HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}`],
];

describe('an answer before the request has arrived completely', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway(TENANT, {
      sourceRules: SourceRules.parse({ allowCommands: true }),
      keys: [
        { id: 'all', key: BOOTSTRAP_KEY, tenant: TENANT, scopes: [...SCOPES] },
        { id: 'reader', key: `${BOOTSTRAP_KEY}-reader`, tenant: TENANT, scopes: ['read'] },
        { id: `limited-${process.pid}`, key: `${BOOTSTRAP_KEY}-limited`, tenant: TENANT, scopes: ['read'], ratePerMinute: 1 },
      ],
    });
    // No test depends on the speed of the machine: a client that is slow is not cut.
    Object.assign(gateway.app.getHttpServer(), { requestTimeout: 0, keepAliveTimeout: 0 });
  });
  afterAll(() => gateway.close());

  const clients: RawClient[] = [];
  const open = async (): Promise<RawClient> => {
    const accepted = once(gateway.app.getHttpServer(), 'connection');
    const client = new RawClient(gateway.url);
    clients.push(client);
    const [socket] = (await accepted) as [Socket];
    return Object.assign(client, { accepted: socket });
  };
  const { ms } = LINGER;
  beforeEach(async () => {
    LINGER.ms = 600_000;
    // Takes what its rate allows, if anything.
    await fetch(`${gateway.url}/v1/tools`, { headers: { authorization: `Bearer ${BOOTSTRAP_KEY}-limited` } });
  });
  afterEach(() => {
    LINGER.ms = ms;
    for (const client of clients.splice(0)) client.destroy();
  });

  describe.each<Framing>(['Content-Length', 'chunked'])('of a body by %s', (framing) => {
    it.each(KEPT_ALIVE)(
      'answers %i at once to %s before the body has arrived, drops its rest and keeps the connection',
      async (status, _what, head, code) => {
        const client = await open();
        await client.send(requestHead(head, framing, 3 * PIECE.length));
        await client.send(framed(PIECE, framing));
        expect(await client.answer()).toMatchObject({ status, problem: { code }, connection: 'keep-alive' });
        for (let piece = 0; piece < 2; piece++) await client.send(framed(PIECE, framing));
        await client.send(framing === 'chunked' ? '0\r\n\r\n' : '');
        await client.send('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
        expect(await client.answer()).toMatchObject({ status: 200 });
      },
    );

    it.each(CLOSED)(
      'answers %i at once to %s before the body has arrived, drops its rest and closes the connection',
      async (status, _what, head, code) => {
        const client = await open();
        await client.send(requestHead(head, framing, 10 * LIMITS.bodyBytes));
        for (let bytes = 0; bytes <= LIMITS.bodyBytes; bytes += PIECE.length) await client.send(framed(PIECE, framing));
        expect(await client.answer()).toMatchObject({ status, problem: { code }, connection: 'close' });
        await client.finishes((piece) => framed(piece, framing));
      },
    );

    it.each([...KEPT_ALIVE, ...CLOSED])(
      'delivers %i for %s to a client that sends 50 MB without looking',
      async (status, _what, head, code) => {
        const client = await open();
        await client.send(requestHead(head, framing, MANY_PIECES * PIECE.length));
        client.flood(framed(PIECE, framing));
        expect(await client.answer()).toMatchObject({ status, problem: { code } });
        await client.isBounded();
      },
    );
  });

  it.each(MALFORMED)('answers %i to a malformed request, %s, and drops the rest', async (status, _what, start) => {
    const client = await open();
    await client.send(start);
    expect(await client.answer()).toMatchObject({ status, connection: 'close' });
    await client.finishes((piece) => piece);
  });

  it.each(MALFORMED)('delivers %i for %s to a client that sends 50 MB without looking', async (status, _what, start) => {
    const client = await open();
    await client.send(start);
    client.flood(PIECE);
    expect(await client.answer()).toMatchObject({ status, connection: 'close' });
    await client.isBounded();
  });

  it('delivers 408 for a slow request to a client that sends 50 MB without reading', async () => {
    const client = await open();
    await client.send(requestHead('POST /v1/calls\r\nContent-Type: application/json\r\n@', 'chunked', 0));
    // Simulates Node after the timeout of a request.
    gateway.app.getHttpServer().emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), client.accepted);
    client.flood(framed(PIECE, 'chunked'));
    expect(await client.answer()).toMatchObject({ status: 408, connection: 'close' });
    await client.isBounded();
  });

  it('answers 413 to a bundle over the limit, drops its rest and keeps the connection', async () => {
    const client = await open();
    const length = BUNDLE_UPLOAD_BYTES + LIMITS.bodyBytes;
    await client.send(requestHead('POST /v1/bundles\r\nContent-Type: application/octet-stream\r\n@', 'Content-Length', length));
    for (let bytes = 0; bytes < length; bytes += PIECE.length) await client.send(PIECE);
    expect(await client.answer()).toMatchObject({ status: 413, connection: 'keep-alive' });
    await client.send('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await client.answer()).toMatchObject({ status: 200 });
  });

  it('reads a large body on a connection after an early answer', async () => {
    const client = await open();
    await client.send(requestHead('GET /v1/nothing\r\n@', 'Content-Length', PIECE.length));
    expect(await client.answer()).toMatchObject({ status: 404 });
    await client.send(PIECE);
    const output = `PUT /v1/calls/${CALL_ID}/output?worker=w&fence=1\r\nContent-Type: text/plain\r\n@`;
    await client.send(requestHead(output, 'Content-Length', 2 * LINGER.bytes));
    for (let bytes = 0; bytes < 2 * LINGER.bytes; bytes += PIECE.length) await client.send(PIECE);
    expect(await client.answer()).toMatchObject({ status: 404, connection: 'keep-alive' });
    expect(client.accepted?.bytesRead).toBe(client.socket.bytesWritten);
  });

  it('answers a body with a malformed rest only once', async () => {
    const client = await open();
    await client.send(requestHead('GET /v1/nothing\r\n@', 'chunked', 0));
    expect(await client.answer()).toMatchObject({ status: 404, connection: 'keep-alive' });
    await client.send('xyz\r\n');
    await client.finishes((piece) => piece);
    expect(client.received).toBe('');
  });

  it.each([
    ['was answered on a connection that is kept alive', 'GET /v1/nothing\r\n@'],
    ['was answered on a connection that is closed', 'POST /v1/calls\r\nContent-Type: application/octet-stream\r\n@'],
  ])('closes the connection of a client that neither sends nor closes after it %s', async (_what, head) => {
    LINGER.ms = 1;
    const client = await open();
    await client.send(requestHead(head, 'Content-Length', PIECE.length));
    await client.isClosed();
    expect(client.received).toContain('HTTP/1.1 4');
  });

  it('delays the end of a gateway by an early answer for no longer than the bound', async () => {
    const other = await startTestGateway(TENANT, { drainMs: 600_000 });
    LINGER.ms = 50;
    const client = new RawClient(other.url);
    clients.push(client);
    await client.send(requestHead('GET /v1/nothing\r\n@', 'Content-Length', PIECE.length));
    expect(await client.answer()).toMatchObject({ status: 404, connection: 'keep-alive' });
    await other.close();
  });
});

interface Answer {
  readonly status: number;
  readonly connection: string | undefined;
  readonly problem: Partial<Problem>;
}

/** A client that shows what happens on its connection. */
class RawClient {
  readonly socket: Socket;
  /** The same connection at the gateway. */
  accepted: Socket | undefined;
  received = '';
  private readonly errors: Error[] = [];
  private sent = 0;

  constructor(url: string) {
    this.socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
    this.socket.setEncoding('utf8').on('data', (text: string) => (this.received += text));
    this.socket.on('error', (error) => this.errors.push(error));
  }

  /** Resolves when the kernel has accepted the bytes. */
  send(bytes: Buffer | string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.socket.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Sends pieces as fast as the connection takes them. */
  flood(piece: Buffer): void {
    const more = (): void => {
      this.sent += 1;
      if (this.sent < MANY_PIECES) this.send(piece).then(more, () => {});
    };
    more();
  }

  /** The next complete answer. */
  async answer(): Promise<Answer> {
    const answer = await eventually(() => {
      const [, head = '', rest = ''] = /^([\s\S]*?\r\n)\r\n([\s\S]*)$/.exec(this.received) ?? [];
      const length = header(head, 'transfer-encoding') === 'chunked' ? EMPTY_CHUNKED.length : Number(header(head, 'content-length') ?? NaN);
      if (Buffer.byteLength(rest) >= length) return { head, length, rest: Buffer.from(rest) };
      if (this.socket.closed) throw new Error(`closed by ${String(this.errors[0])} after ${JSON.stringify(this.received)}`);
      return undefined;
    }, 'a complete answer');
    this.received = answer.rest.subarray(answer.length).toString();
    return {
      status: Number(answer.head.split(' ')[1]),
      connection: header(answer.head, 'connection'),
      problem:
        header(answer.head, 'content-type') === undefined ? {} : (JSON.parse(answer.rest.subarray(0, answer.length).toString()) as Problem),
    };
  }

  /** The gateway has sent FIN, reads what this client still sends, and closes the connection without an error after FIN. */
  async finishes(frame: (piece: Buffer) => Buffer): Promise<void> {
    const { accepted, socket } = this;
    if (!socket.readableEnded) await once(socket, 'end');
    for (let piece = 0; piece < 8; piece++) await this.send(frame(PIECE));
    await eventually(() => accepted?.destroyed === true || accepted?.bytesRead === socket.bytesWritten, 'the gateway to read the rest');
    expect(accepted?.destroyed).toBe(false);
    socket.end();
    await this.isClosed();
    if (!socket.closed) await once(socket, 'close');
    expect(this.errors).toEqual([]);
  }

  /** The gateway has closed the connection. */
  async isClosed(): Promise<void> {
    if (this.accepted?.closed === false) await once(this.accepted, 'close');
  }

  destroy(): void {
    this.socket.destroy();
    this.accepted?.destroy();
  }

  /** The gateway stops to read, long before the client has sent everything, and does not cut the connection. */
  async isBounded(): Promise<void> {
    const { accepted } = this;
    if (accepted === undefined) throw new Error('no connection');
    await eventually(() => accepted.isPaused() || accepted.destroyed || this.sent === MANY_PIECES, 'the gateway to stop reading');
    expect([accepted.destroyed, this.errors]).toEqual([false, []]);
    expect(accepted.bytesRead).toBeLessThanOrEqual(LIMITS.bodyBytes + LINGER.bytes + SLACK_BYTES);
    expect(this.sent).toBeLessThan(MANY_PIECES);
  }
}

function requestHead(head: string, framing: Framing, length: number): string {
  const [line = '', ...headers] = head.split('\r\n');
  const body = framing === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  const key = (name: string) => `Authorization: Bearer ${BOOTSTRAP_KEY}${name === '' ? '' : `-${name}`}`;
  const lines = headers.map((text) => (text.startsWith('@') ? key(text.slice(1)) : text));
  return `${[`${line} HTTP/1.1`, 'Host: localhost', ...lines, body].join('\r\n')}\r\n\r\n`;
}

function framed(piece: Buffer, framing: Framing): Buffer {
  return framing === 'chunked' ? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]) : piece;
}

function header(head: string, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)\r$`, 'im').exec(head)?.[1];
}
