import { setMaxListeners } from 'node:events';
import { Injectable } from '@nestjs/common';

/** Drain state of this process. A drain begins once and is never revoked. */
@Injectable()
export class ShutdownState {
  private readonly controller = new AbortController();

  constructor() {
    // Every open wait adds a listener; their number is bounded by the open requests.
    setMaxListeners(0, this.controller.signal);
  }

  /** Aborts when the drain begins: waits respond with the current state, streams ask their clients to reconnect. */
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
