import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import {
  WORKER_LIMITS,
  WORKER_PATH,
  WORKER_SUBPROTOCOL,
  WorkerFrame,
  type WorkerHello,
  type WorkerOutput,
  type WorkerServerFrame,
} from '#contracts';
import type { Changes } from './changes.js';
import { CheckConnection, type CheckTransport } from './check-connection.js';
import { PollFrames } from './poll-frames.js';

export const CHECK_KEY = 'key-of-the-worker-check';
export const CHECK_LEASE_MS = 3_000;

/** Response of a scenario to a hello: an answer, no answer, or a problem. */
export type HelloPolicy = 'welcome' | 'cut' | 'refuse';

/** Gateway that follows a scenario only: `toolyard-worker/1` by WebSocket and by long poll. */
export class CheckServer {
  readonly connections: CheckConnection[] = [];
  readonly faults: string[] = [];
  policy: HelloPolicy = 'welcome';
  hellos = 0;
  /** Tools that are not taken into the catalog. */
  leftOut: readonly string[] = [];
  /** Added to the time of the `Date` header. */
  clockMs = 0;
  /** Outputs that were sent beside frames. */
  readonly outputs: CheckOutput[] = [];
  /** Number of requests with an output whose connection is cut before the answer. */
  cutOutputs = 0;
  /** True to answer requests with an output by 409. */
  refuseOutputs = false;
  /** Attempts to connect while it was down. */
  refusedConnections = 0;
  private isDown = false;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly polling = new Map<string, { frames: PollFrames; connection: CheckConnection }>();

  constructor(private readonly changes: Changes) {
    this.server = createServer((request, response) => void this.request(request, response));
    this.server.on('connection', (socket) => {
      if (this.isDown) {
        this.refusedConnections += 1;
        this.changes.happened();
        return socket.destroy();
      }
      this.sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => this.sockets.delete(socket));
    });
    const handleProtocols = (offered: Set<string>) => (offered.has(WORKER_SUBPROTOCOL) ? WORKER_SUBPROTOCOL : false);
    const upgrades = new WebSocketServer({ noServer: true, maxPayload: WORKER_LIMITS.frameBytes, handleProtocols });
    this.server.on('upgrade', (request, socket, head) => {
      if (request.url !== WORKER_PATH || !isAuthorized(request)) return socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n');
      upgrades.handleUpgrade(request, socket, head, (upgraded) => this.upgraded(upgraded));
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  /** Every connection is cut. */
  forget(): void {
    for (const connection of this.connections) connection.isClosed = true;
    this.polling.clear();
    for (const socket of this.sockets) socket.destroy();
    this.changes.happened();
  }

  /** Simulates the death of a gateway: every connection is cut and new ones are refused. */
  down(): void {
    this.isDown = true;
    this.forget();
  }

  up(): void {
    this.isDown = false;
  }

  private upgraded(socket: WebSocket): void {
    let connection: CheckConnection | undefined;
    const transport: CheckTransport = {
      kind: 'websocket',
      send: (frame) => socket.send(JSON.stringify(frame)),
      cut: () => socket.terminate(),
    };
    socket.on('error', () => {});
    socket.on('close', () => connection?.closed());
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      const frame = this.read(data.toString('utf8'), isBinary);
      if (frame === undefined) return;
      if (connection !== undefined) return connection.take(frame);
      if (frame.op !== 'hello') return this.fault(`the first frame was ${frame.op}; expected hello`);
      if (this.policy === 'refuse') {
        socket.send(JSON.stringify({ op: 'refused', problem: REFUSAL }));
        this.counted();
        return socket.close(4003, 'hello was refused');
      }
      if (this.policy === 'cut') {
        this.counted();
        return socket.terminate();
      }
      connection = new CheckConnection(frame, transport, this.changes);
      socket.send(JSON.stringify(this.welcome(frame, `c-${this.hellos}`)));
      this.connected(connection);
    });
  }

  private async request(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Date', new Date(Date.now() + this.clockMs).toUTCString());
    const output = outputOf(request);
    const body = await bodyOf(request);
    const answer = (status: number, value?: object) => {
      response.writeHead(
        status,
        value === undefined ? {} : { 'content-type': status < 300 ? 'application/json' : 'application/problem+json' },
      );
      response.end(value === undefined ? undefined : JSON.stringify(value));
    };
    if (!isAuthorized(request)) return answer(401, { ...REFUSAL, code: 'unauthenticated', status: 401 });
    if (output !== undefined) return this.takeOutput({ ...output, ...digestOf(body) }, request, answer);
    const [, id, what] = /^\/v1\/workers(?:\/([^/]+)\/(poll|messages))?(?:\?.*)?$/.exec(request.url ?? '') ?? [];
    if (request.method !== 'POST') return answer(404, { ...REFUSAL, code: 'resource_not_found', status: 404 });
    if (id === undefined) return this.pollHello(body, request, answer);
    const polling = this.polling.get(id);
    if (polling === undefined) return answer(404, { ...REFUSAL, code: 'resource_not_found', status: 404 });
    if (what === 'messages') {
      for (const it of framesOf(body)) {
        const frame = this.read(JSON.stringify(it), false);
        if (frame?.op === 'bye') this.polling.delete(id);
        if (frame !== undefined) polling.connection.take(frame);
        if (frame?.op === 'bye') polling.connection.closed();
      }
      return answer(202);
    }
    const { after = 0, credit = [] } = objectOf(body);
    for (const more of Array.isArray(credit) ? credit : []) {
      const frame = this.read(JSON.stringify({ op: 'credit', ...more }), false);
      if (frame !== undefined) polling.connection.take(frame);
    }
    const page = await polling.frames.poll(Number(after), 1_000, request);
    if (!request.socket.destroyed) answer(200, page);
  }

  private takeOutput(output: CheckOutput, request: IncomingMessage, answer: (status: number, body?: object) => void): void {
    if (this.cutOutputs > 0) {
      this.cutOutputs -= 1;
      return void request.socket.destroy();
    }
    if (this.refuseOutputs) return answer(409, { ...REFUSAL, code: 'conflict', status: 409 });
    this.outputs.push(output);
    answer(200, { sha256: output.sha256, bytes: output.bytes });
  }

  private pollHello(text: string, request: IncomingMessage, answer: (status: number, body?: object) => void): void {
    const frame = this.read(text, false);
    if (frame?.op !== 'hello') return answer(422, REFUSAL);
    this.counted();
    if (this.policy === 'refuse') return answer(422, REFUSAL);
    if (this.policy === 'cut') return void request.socket.destroy();
    const id = `c-${this.hellos}`;
    const frames = new PollFrames();
    const cut = () => {
      this.polling.delete(id);
      for (const socket of this.sockets) socket.destroy();
    };
    const connection = new CheckConnection(frame, { kind: 'poll', send: (sent) => frames.add(sent), cut }, this.changes);
    this.polling.set(id, { frames, connection });
    answer(201, this.welcome(frame, id));
    this.connections.push(connection);
    this.changes.happened();
  }

  private connected(connection: CheckConnection): void {
    this.connections.push(connection);
    this.counted();
  }

  private counted(): void {
    this.hellos += 1;
    this.changes.happened();
  }

  private welcome({ tools }: WorkerHello, workerId: string): WorkerServerFrame {
    const taken = tools.filter(({ name }) => !this.leftOut.includes(name));
    return {
      op: 'welcome',
      workerId,
      leaseMs: CHECK_LEASE_MS,
      heartbeatMs: CHECK_LEASE_MS / 3,
      tools: taken.map(({ name, pool = 'net' }) => ({ name, pool })),
      problems: this.leftOut.map((name) => `${name} is left out by the check`),
    };
  }

  private read(text: string, isBinary: boolean): WorkerFrame | undefined {
    if (isBinary) return this.fault('a binary frame; expected text');
    if (Buffer.byteLength(text) > WORKER_LIMITS.frameBytes) return this.fault(`a frame of ${Buffer.byteLength(text)} bytes`);
    const parsed = WorkerFrame.safeParse(objectOf(text));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    return this.fault(`a frame that is none (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}): ${text.slice(0, 200)}`);
  }

  private fault(text: string): undefined {
    this.faults.push(text);
    this.changes.happened();
  }
}

export interface CheckOutput extends WorkerOutput {
  readonly callId: string | undefined;
  readonly worker: string | null;
  readonly fence: string | null;
}

/** Call whose output a request sends; undefined for any other request. */
function outputOf({ method, url = '' }: IncomingMessage): Omit<CheckOutput, keyof WorkerOutput> | undefined {
  const { pathname, searchParams } = new URL(url, 'http://check');
  const [, callId] = /^\/v1\/calls\/([^/]+)\/output$/.exec(pathname) ?? [];
  if (method !== 'PUT' || callId === undefined) return undefined;
  return { callId, worker: searchParams.get('worker'), fence: searchParams.get('fence') };
}

function digestOf(text: string): WorkerOutput {
  const bytes = Buffer.from(text);
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
}

const REFUSAL = {
  type: 'about:blank',
  title: 'Refused by the check',
  status: 422,
  code: 'invalid_request',
  retryable: false,
  detail: 'This hello is refused on purpose.',
};

function isAuthorized({ headers }: IncomingMessage): boolean {
  return headers.authorization === `Bearer ${CHECK_KEY}`;
}

function framesOf(text: string): unknown[] {
  const { frames } = objectOf(text);
  return Array.isArray(frames) ? frames : [];
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  try {
    return await text(request);
  } catch {
    // The connection was cut.
    return '';
  }
}
