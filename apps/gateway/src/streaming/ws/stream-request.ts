import type { ClientFrame, Principal } from '#contracts';
import type { AcceptedFrame, HandledOp, StreamSession } from './stream-session.js';

export type FrameOf<Op extends ClientFrame['op']> = Extract<ClientFrame, { op: Op }>;

/** One frame of a client on its way through guard, pipe and handler: the counterpart of an HTTP request. */
export class StreamRequest {
  constructor(
    readonly session: StreamSession,
    private readonly frame: AcceptedFrame,
  ) {}

  get op(): HandledOp {
    return this.frame.op;
  }

  /** Id for the answer, as JSON text; undefined if the frame has no usable one. */
  get frameId(): string | undefined {
    return this.frame.id;
  }

  /** Id for ops whose schema requires one: their handlers run only if it is present. */
  get id(): string {
    return this.frame.id ?? '';
  }

  /** Frame as parsed JSON; the pipe of its handler validates it. */
  get body(): unknown {
    return this.frame.body;
  }

  /** Principal of the socket at the receipt of the frame. */
  get principal(): Principal {
    return this.frame.principal;
  }
}
