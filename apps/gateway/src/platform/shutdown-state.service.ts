import { setMaxListeners } from 'node:events';
import { Injectable } from '@nestjs/common';

/** Whether this process is draining. A drain begins once and is never taken back. */
@Injectable()
export class ShutdownState {
  private readonly controller = new AbortController();

  constructor() {
    // Every open wait adds a listener; their number is bounded by the open requests.
    setMaxListeners(0, this.controller.signal);
  }

  /** Aborted when the drain begins: waits answer with what they have, streams tell their readers to reconnect. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get draining(): boolean {
    return this.controller.signal.aborted;
  }

  begin(): void {
    this.controller.abort();
  }
}
