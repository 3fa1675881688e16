import type { ClientFrame, Principal } from '#contracts';
import type { AcceptedFrame, HandledOp, StreamSession } from './stream-session.js';

export type FrameOf<Op extends ClientFrame['op']> = Extract<ClientFrame, { op: Op }>;

/** One frame of a client on its way through guard, pipe and handler: for a socket what a request is for HTTP. */
export class StreamRequest {
  constructor(
    readonly session: StreamSession,
    private readonly frame: AcceptedFrame,
  ) {}

  get op(): HandledOp {
    return this.frame.op;
  }

  /** The id to answer under, as JSON text; undefined when the frame has none that can be used. */
  get frameId(): string | undefined {
    return this.frame.id;
  }

  /** For ops whose schema requires an id: their handlers run only when it is there. */
  get id(): string {
    return this.frame.id ?? '';
  }

  /** The frame as it was parsed from JSON; the pipe of its handler validates it. */
  get body(): unknown {
    return this.frame.body;
  }

  /** The socket's key as it was when the frame came. */
  get principal(): Principal {
    return this.frame.principal;
  }
}
