import { setMaxListeners } from 'node:events';
import { Injectable } from '@nestjs/common';

/** Tells everything in this process that it is about to stop. Begins once and never ends. */
@Injectable()
export class ShutdownState {
  private readonly controller = new AbortController();

  constructor() {
    // Every open wait listens; their number is bounded by the open requests.
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
