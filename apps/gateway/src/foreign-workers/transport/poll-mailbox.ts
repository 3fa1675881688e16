import type { WorkerServerFrame } from '#contracts';
import { UNREAD_BYTES, type WorkerTransport } from '../bridge/connected-worker.js';

/** As `UNREAD_BYTES`, for the number of frames. */
const UNREAD_FRAMES = { full: 2_500, most: 10_000 };
/** Most bytes of one response. A single larger frame is sent alone. */
const ANSWER_BYTES = 1_048_576;

/** Frames for a polling worker. They stay until the next poll confirms them. */
export class PollMailbox implements WorkerTransport {
  private frames: { readonly seq: number; readonly frame: WorkerServerFrame; readonly bytes: number }[] = [];
  /** Bytes of the frames. */
  private unread = 0;
  private seq = 0;
  private wake: () => void = () => {};
  private isClosed = false;

  constructor(
    private readonly onClosed: () => void,
    /** Called when `isFull` changes. */
    private readonly onFullChange: () => void = () => {},
  ) {}

  get isFull(): boolean {
    return this.frames.length > UNREAD_FRAMES.full || this.unread > UNREAD_BYTES.full;
  }

  send(frame: WorkerServerFrame): void {
    if (frame.op === 'ping' || this.isClosed) return;
    const bytes = Buffer.byteLength(JSON.stringify(frame));
    const wasFull = this.isFull;
    this.frames.push({ seq: ++this.seq, frame, bytes });
    this.unread += bytes;
    if (this.frames.length > UNREAD_FRAMES.most || this.unread > UNREAD_BYTES.most) this.close();
    else if (this.isFull !== wasFull) this.onFullChange();
    this.wake();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.wake();
    this.onClosed();
  }

  /** Drops confirmed frames, then waits for a frame. Returns none after `waitMs`, on abort, or on another poll. */
  async poll(after: number, waitMs: number, signal: AbortSignal): Promise<{ frames: WorkerServerFrame[]; seq: number }> {
    this.wake();
    const wasFull = this.isFull;
    this.frames = this.frames.filter(({ seq }) => seq > after);
    this.unread = this.frames.reduce((sum, { bytes }) => sum + bytes, 0);
    if (this.isFull !== wasFull) this.onFullChange();
    if (this.frames.length === 0 && waitMs > 0 && !this.isClosed && !signal.aborted) await this.waitForFrame(waitMs, signal);
    const page = this.firstFrames();
    return { frames: page.map(({ frame }) => frame), seq: page.at(-1)?.seq ?? Math.min(after, this.seq) };
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
