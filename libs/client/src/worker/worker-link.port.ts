import type { Problem, WorkerFrame, WorkerHello, WorkerServerFrame, WorkerWelcome } from '#contracts';
import type { Socket } from '../stream/socket.port.js';

/** WebSocket class of the package `ws`, or one with the same arguments: the key is sent in a header. */
export type WorkerSocketConstructor = new (
  url: string,
  protocols: string[],
  options: { headers: Record<string, string>; maxPayload?: number },
) => Socket;

/** Error for a worker that the gateway rejects. A retry without a change is useless. */
export class WorkerRefused extends Error {
  override readonly name = 'WorkerRefused';

  constructor(
    message: string,
    readonly problem?: Problem,
  ) {
    super(message);
  }
}

/** One connection of a worker, after `welcome`. */
export interface WorkerLink {
  readonly welcome: WorkerWelcome;
  /** Sends a frame, in order. Frames may be lost with the connection: necessary ones are repeated. */
  send(frame: WorkerFrame): void;
  /** Resolves when all frames were sent or the connection is lost. */
  flush(): Promise<void>;
  /** Closes the connection and calls `closed`. Idempotent. */
  close(): void;
}

export interface WorkerLinkEvents {
  readonly frame: (frame: WorkerServerFrame) => void;
  /** Called once. */
  readonly closed: (why: string) => void;
}

/** Connects and sends `hello`. Rejects with `WorkerRefused`, or with any other error if a retry may succeed. */
export type OpenWorkerLink = (hello: WorkerHello, events: WorkerLinkEvents, signal: AbortSignal) => Promise<WorkerLink>;

const AGAIN: ReadonlySet<string> = new Set(['overloaded', 'unavailable', 'rate_limited', 'internal']);

/** `WorkerRefused`, unless the problem is temporary. */
export function refusalOf(problem: Problem): Error {
  const text = `${problem.title}: ${problem.detail ?? ''}`;
  return AGAIN.has(problem.code) ? new Error(text) : new WorkerRefused(text, problem);
}
