import type { RawData, ServerOptions, WebSocket } from 'ws';
import { CLOSE_CODES, countParts, ProblemError, WORKER_LIMITS, type Principal, WorkerFrame, type WorkerServerFrame } from '#contracts';
import { MessageBudget, MessageFlood } from '#timing';
import { toProblem } from '../../platform/http/to-problem.js';
import { UNREAD_BYTES, type ConnectedWorker, type WorkerTransport } from '../bridge/connected-worker.js';
import type { ForeignWorkers } from '../bridge/foreign-workers.service.js';
import { parse } from '../../platform/http/parse.js';
import { parseJsonBody } from '../../platform/http/json-body.js';

/** Consecutive rejected frames after which a worker is disconnected. */
const REFUSED_FRAMES = 100;
/** Most frames that wait for the answer to `hello`. */
const EARLY_FRAMES = 100;
const HELLO_MS = 10_000;
const PROTOCOL = 4003;
const SLOW = 4008;
/** Time for the last frames to arrive before the connection is destroyed. */
const CLOSING_MS = 1_000;

/** One frame per turn of the event loop, since a chunk may have thousands of small ones. */
export const WORKER_SOCKET_OPTIONS = {
  maxPayload: WORKER_LIMITS.frameBytes,
  perMessageDeflate: false,
  allowSynchronousEvents: false,
} satisfies ServerOptions;

/** WebSocket of one worker: frames in and out, in order. */
export class WorkerSocket implements WorkerTransport {
  private worker: ConnectedWorker | undefined;
  private early: WorkerFrame[] | undefined;
  private refusals = 0;
  /** True once the gateway has closed the socket: later frames are dropped. */
  private isClosed = false;
  private wasFull = false;
  private readonly helloTimer: NodeJS.Timeout;

  constructor(
    private readonly socket: WebSocket,
    private readonly principal: Principal,
    private readonly workers: Pick<ForeignWorkers, 'connect' | 'receive' | 'disconnect' | 'flooded' | 'updateQueues'>,
    private readonly budget = new MessageBudget(),
  ) {
    this.helloTimer = setTimeout(() => this.close(PROTOCOL, 'expected hello within 10 s'), HELLO_MS).unref();
    socket.on('message', (data, isBinary) => this.receive(data, isBinary));
    socket.on('close', () => this.closed());
    socket.on('error', () => socket.terminate());
  }

  send(frame: WorkerServerFrame): void {
    if (this.socket.readyState !== this.socket.OPEN) return;
    if (this.socket.bufferedAmount > UNREAD_BYTES.most) return this.close(SLOW, 'the worker does not read');
    this.socket.send(JSON.stringify(frame), () => this.checkFull());
    this.checkFull();
  }

  get isFull(): boolean {
    return this.socket.bufferedAmount > UNREAD_BYTES.full;
  }

  private checkFull(): void {
    if (this.isFull === this.wasFull) return;
    this.wasFull = this.isFull;
    if (this.worker !== undefined) this.workers.updateQueues(this.worker);
  }

  close(code: number, reason: string): void {
    this.isClosed = true;
    this.socket.close(code, reason);
    setTimeout(() => this.socket.terminate(), CLOSING_MS).unref();
  }

  private receive(...message: Parameters<typeof textOf>): void {
    if (this.isClosed) return;
    try {
      this.budget.spend(1, sizeOf(message[0]));
      const text = textOf(...message);
      this.budget.spend(0, 0, countParts(text, WORKER_LIMITS.jsonParts));
      const frame = parse(WorkerFrame, parseJsonBody(text, WORKER_LIMITS.jsonParts), 'frame');
      if (this.worker !== undefined) this.workers.receive(this.worker, frame);
      else if (this.early !== undefined) this.keep(this.early, frame);
      else if (frame.op === 'hello') void this.hello(frame);
      else throw new ProblemError('conflict', `Expected hello as the first frame; got ${frame.op}`);
    } catch (error) {
      this.refuse(error, callIdOf(message[0]));
    }
  }

  private async hello(frame: WorkerFrame & { op: 'hello' }): Promise<void> {
    this.early = [];
    clearTimeout(this.helloTimer);
    try {
      const { worker, welcome } = await this.workers.connect(this.principal, frame, this);
      this.send(welcome);
      this.worker = worker;
      if (this.socket.readyState !== this.socket.OPEN) return this.closed();
      for (const early of this.early) this.workers.receive(worker, early);
    } catch (error) {
      this.refuse(error);
      this.close(PROTOCOL, 'hello was refused');
    }
  }

  private keep(early: WorkerFrame[], frame: WorkerFrame): void {
    if (early.length < EARLY_FRAMES) early.push(frame);
    else throw new ProblemError('overloaded', 'Expected to wait for welcome; the frame is dropped');
  }

  private refuse(error: unknown, callId?: string): void {
    if (error instanceof MessageFlood) return this.endFlood(error.message);
    this.send({ op: 'refused', problem: toProblem(error).toProblem(), ...(callId === undefined ? {} : { callId }) });
    if (++this.refusals >= REFUSED_FRAMES) this.close(PROTOCOL, 'too many refused frames');
  }

  private endFlood(why: string): void {
    this.send({ op: 'refused', problem: this.workers.flooded(this.principal, this.worker, why).toProblem() });
    this.close(CLOSE_CODES.tooManyFrames, 'too many frames');
  }

  private closed(): void {
    this.isClosed = true;
    clearTimeout(this.helloTimer);
    if (this.worker !== undefined) void this.workers.disconnect(this.worker);
  }
}

/** Call of a frame that is not parsed, where clients write it: before the result. */
function callIdOf(data: RawData): string | undefined {
  const head = (
    Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data instanceof ArrayBuffer ? new Uint8Array(data) : data)
  ).toString('latin1', 0, 300);
  return /^\{"op":"\w{1,20}","callId":"([\w-]{1,64})"/.exec(head)?.[1];
}

function sizeOf(data: RawData): number {
  return Array.isArray(data) ? data.reduce((bytes, { length }) => bytes + length, 0) : data.byteLength;
}

/** @throws ProblemError for anything but a text frame within the limit */
function textOf(data: Buffer | ArrayBuffer | Buffer[], isBinary: boolean): string {
  if (isBinary) throw new ProblemError('invalid_request', 'Expected a text frame with JSON; got a binary one');
  const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data instanceof ArrayBuffer ? new Uint8Array(data) : data);
  if (bytes.length > WORKER_LIMITS.frameBytes)
    throw new ProblemError('payload_too_large', `Expected a frame of at most ${WORKER_LIMITS.frameBytes} bytes; got ${bytes.length}`);
  return bytes.toString('utf8');
}
