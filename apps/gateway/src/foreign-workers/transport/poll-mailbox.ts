import type { WorkerServerFrame } from '#contracts';
import type { WorkerTransport } from '../bridge/connected-worker.js';

/** Frames that a worker has not read; above it the worker counts as gone. */
const MAX_FRAMES = 10_000;
/** Of one answer. A single larger frame goes alone. */
const ANSWER_BYTES = 1_048_576;

/** The frames for a worker that polls. They stay until the next poll says that they arrived. */
export class PollMailbox implements WorkerTransport {
  private frames: { readonly seq: number; readonly frame: WorkerServerFrame; readonly bytes: number }[] = [];
  private seq = 0;
  private wake: () => void = () => {};
  private isClosed = false;

  constructor(private readonly onClosed: () => void) {}

  send(frame: WorkerServerFrame): void {
    if (frame.op === 'ping' || this.isClosed) return;
    this.frames.push({ seq: ++this.seq, frame, bytes: Buffer.byteLength(JSON.stringify(frame)) });
    if (this.frames.length > MAX_FRAMES) this.close();
    this.wake();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.wake();
    this.onClosed();
  }

  /** Drops what arrived, then waits for a frame. Ends with none after `waitMs`, or when the signal aborts or another poll comes. */
  async poll(after: number, waitMs: number, signal: AbortSignal): Promise<{ frames: WorkerServerFrame[]; seq: number }> {
    this.wake();
    this.frames = this.frames.filter(({ seq }) => seq > after);
    if (this.frames.length === 0 && waitMs > 0 && !this.isClosed && !signal.aborted) await this.waitForFrame(waitMs, signal);
    const taken = this.firstFrames();
    return { frames: taken.map(({ frame }) => frame), seq: taken.at(-1)?.seq ?? Math.min(after, this.seq) };
  }

  private firstFrames(): typeof this.frames {
    let bytes = 0;
    const end = this.frames.findIndex((it, index) => (bytes += it.bytes) > ANSWER_BYTES && index > 0);
    return end === -1 ? this.frames : this.frames.slice(0, end);
  }

  private waitForFrame(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.wake = () => {};
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      signal.addEventListener('abort', done, { once: true });
      this.wake = done;
    });
  }
}
