import type { IncomingMessage } from 'node:http';

/** Frames for a worker that polls. Stored until the next poll confirms their arrival. */
export class PollFrames {
  private frames: { readonly seq: number; readonly frame: object }[] = [];
  private seq = 0;
  private wake: () => void = () => {};

  add(frame: object): void {
    this.frames.push({ seq: ++this.seq, frame });
    this.wake();
  }

  async poll(after: number, waitMs: number, request: IncomingMessage): Promise<{ frames: object[]; seq: number }> {
    this.frames = this.frames.filter(({ seq }) => seq > after);
    if (this.frames.length === 0) await this.frameWithin(waitMs, request);
    return { frames: this.frames.map(({ frame }) => frame), seq: this.frames.at(-1)?.seq ?? after };
  }

  private frameWithin(ms: number, request: IncomingMessage): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        request.socket.off('close', wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.wake = wake;
      request.socket.once('close', wake);
    });
  }
}
