import type { Problem, WorkerFrame, WorkerHello, WorkerServerFrame, WorkerWelcome } from '#contracts';
import type { Socket } from '../stream/socket.port.js';

/** The package `ws`, or whatever takes the same arguments: the key travels in a header. */
export type WorkerSocketConstructor = new (
  url: string,
  protocols: string[],
  options: { headers: Record<string, string>; maxPayload?: number },
) => Socket;

/** The gateway does not take this worker. Trying again without a change is of no use. */
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
  /** In order. Frames may be lost with the connection: what matters is repeated. */
  send(frame: WorkerFrame): void;
  /** Resolves when all frames were sent or the connection is gone. */
  flush(): Promise<void>;
  /** Idempotent. `closed` is called. */
  close(): void;
}

export interface WorkerLinkEvents {
  readonly frame: (frame: WorkerServerFrame) => void;
  /** Called once. */
  readonly closed: (why: string) => void;
}

/** Connects and says hello. Rejects with `WorkerRefused`, or with any other error when it may be tried again. */
export type OpenWorkerLink = (hello: WorkerHello, events: WorkerLinkEvents, signal: AbortSignal) => Promise<WorkerLink>;

const AGAIN: ReadonlySet<string> = new Set(['overloaded', 'unavailable', 'rate_limited', 'internal']);

/** `WorkerRefused`, unless the problem is one that passes. */
export function refusalOf(problem: Problem): Error {
  const text = `${problem.title}: ${problem.detail ?? ''}`;
  return AGAIN.has(problem.code) ? new Error(text) : new WorkerRefused(text, problem);
}
