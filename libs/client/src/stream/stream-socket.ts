import { CLOSE_CODES, type ClientFrame, type Problem } from '#contracts';
import type { z } from 'zod';
import { ToolyardError } from '../toolyard-error.js';
import { readServerFrame, type ReceivedFrame } from './server-frame.js';
import type { Socket, SocketConstructor } from './socket.port.js';

const READY_MS = 10_000;
const HEARTBEAT_MS = 10_000;
/** Silence without frames and pongs after which the peer counts as gone, even if TCP shows a connection. */
const SILENCE_MS = 30_000;

export interface StreamSocketListener {
  /** Called once, when the gateway has accepted the key. */
  ready(): void;
  frame(frame: ReceivedFrame): void;
  /** Called once and last. */
  over(end: SocketEnd): void;
}

/** `reached`: the socket was ready before. `final`: a reconnect would fail in the same way. */
export interface SocketEnd {
  readonly error: ToolyardError;
  readonly reached: boolean;
  readonly final: boolean;
  readonly afterMs?: number | undefined;
}

export interface StreamSocketOptions {
  readonly url: string;
  /** Undefined: the browser sends a login cookie with the upgrade. */
  readonly apiKey: string | undefined;
  readonly WebSocket: SocketConstructor;
}

/** One WebSocket to `/v1/stream`: authenticates, detects a dead peer, and ends exactly once. */
export class StreamSocket {
  private readonly socket: Socket;
  private readonly readyTimer: ReturnType<typeof setTimeout>;
  private readonly heartbeat: ReturnType<typeof setInterval>;
  private heardAt = performance.now();
  private isReady = false;
  private ended = false;
  private reconnectAfterMs: number | undefined;

  constructor(
    { url, apiKey, WebSocket }: StreamSocketOptions,
    private readonly listener: StreamSocketListener,
  ) {
    this.socket = new WebSocket(url);
    this.readyTimer = setTimeout(() => this.end('the gateway did not accept the key in time'), READY_MS);
    this.heartbeat = setInterval(() => this.checkSilence(), HEARTBEAT_MS);
    // The key is sent in a frame: browsers cannot set headers here, and URLs are logged.
    this.socket.addEventListener('open', () => this.send({ op: 'auth', token: apiKey }));
    this.socket.addEventListener('error', () => {});
    this.socket.addEventListener('message', ({ data }) => this.receive(data));
    this.socket.addEventListener('close', ({ code, reason }) =>
      this.end(`closed with ${code}${reason === '' ? '' : ` (${reason})`}`, code),
    );
  }

  get ready(): boolean {
    return this.isReady && !this.ended;
  }

  send(frame: z.input<typeof ClientFrame>): void {
    if (!this.ended) this.socket.send(JSON.stringify(frame));
  }

  /** Closes the socket without further calls of the listener. Idempotent. */
  close(): void {
    if (this.ended) return;
    this.release();
    this.socket.close(1000);
  }

  private receive(data: unknown): void {
    if (this.ended) return;
    this.heardAt = performance.now();
    const frame = frameOf(data);
    if (frame instanceof ToolyardError) return this.finish({ error: frame, final: true });
    if (frame === undefined || frame.op === 'pong') return;
    if (frame.op === 'reconnect') {
      this.reconnectAfterMs = frame.afterMs;
      return;
    }
    if (frame.op === 'ready') {
      clearTimeout(this.readyTimer);
      this.isReady = true;
      return this.listener.ready();
    }
    if (frame.op === 'error' && frame.id === undefined) return this.refused(frame.problem);
    this.listener.frame(frame);
  }

  /** Handles an error without a subscription id, which concerns the socket itself. */
  private refused(problem: Problem): void {
    this.finish({ error: ToolyardError.of(problem), final: problem.code !== 'too_many_requests', afterMs: problem.retryAfterMs });
  }

  private end(why: string, code?: number): void {
    const error = new ToolyardError('unreachable', `The event stream broke off: ${why}`);
    this.finish({ error, final: code === CLOSE_CODES.unauthenticated || code === CLOSE_CODES.protocol, afterMs: this.reconnectAfterMs });
  }

  private finish(end: Omit<SocketEnd, 'reached'>): void {
    if (this.ended) return;
    this.release();
    this.socket.close();
    this.listener.over({ ...end, reached: this.isReady });
  }

  private release(): void {
    this.ended = true;
    clearTimeout(this.readyTimer);
    clearInterval(this.heartbeat);
  }

  private checkSilence(): void {
    const silentMs = performance.now() - this.heardAt;
    if (silentMs >= SILENCE_MS) this.end('nothing was received for 30 seconds');
    else if (this.ready && silentMs >= HEARTBEAT_MS / 2) this.send({ op: 'ping' });
  }
}

function frameOf(data: unknown): ReceivedFrame | undefined | ToolyardError {
  try {
    return readServerFrame(JSON.parse(String(data)));
  } catch (cause) {
    return cause instanceof ToolyardError
      ? cause
      : new ToolyardError('protocol', 'The stream sent a frame that is not JSON', undefined, { cause });
  }
}
