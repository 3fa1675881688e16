import { EXIT } from './exit-code.js';

/** Ctrl-C: the first does what the command has in mind for it, the second leaves at once. */
export class SigintHandler {
  private readonly aborter = new AbortController();
  private handler: (() => void) | undefined;
  private lastMessage: (() => void) | undefined;
  private count = 0;

  constructor(
    private readonly source: { on(event: 'SIGINT' | 'SIGTERM', listener: () => void): unknown },
    private readonly exit: (code: number) => void,
  ) {
    this.source.on('SIGINT', () => this.interrupted());
    this.source.on('SIGTERM', () => this.interrupted());
  }

  /** Aborted by the first one, unless there is a handler. */
  get signal(): AbortSignal {
    return this.aborter.signal;
  }

  get happened(): boolean {
    return this.count > 0;
  }

  /** What the first one does instead of ending the command, and what the second says before it leaves. */
  handle(handler: () => void, farewell: () => void): void {
    this.handler = handler;
    this.lastMessage = farewell;
  }

  private interrupted(): void {
    this.count += 1;
    if (this.count > 1) {
      this.lastMessage?.();
      return this.exit(EXIT.interrupted);
    }
    if (this.handler) this.handler();
    else this.aborter.abort();
  }
}
