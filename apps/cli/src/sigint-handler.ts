import { EXIT } from './exit-code.js';

/** Ctrl-C and SIGTERM: the first one calls the command's handler, the second one exits at once. */
export class SigintHandler {
  private readonly aborter = new AbortController();
  private handler: (() => void) | undefined;
  private lastMessage: (() => void) | undefined;
  private receiver: ((signal: NodeJS.Signals) => void) | undefined;
  private count = 0;

  constructor(
    private readonly source: { on(event: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown },
    private readonly exit: (code: number) => void,
  ) {
    this.source.on('SIGINT', (signal) => this.interrupted(signal));
    this.source.on('SIGTERM', (signal) => this.interrupted(signal));
  }

  /** Aborted by the first one, if there is no handler. */
  get signal(): AbortSignal {
    return this.aborter.signal;
  }

  get happened(): boolean {
    return this.count > 0;
  }

  /** `handler` is called by the first one instead of aborting `signal`; `lastMessage` by the second one, before the exit. */
  handle(handler: () => void, lastMessage: () => void): void {
    this.handler = handler;
    this.lastMessage = lastMessage;
  }

  /** Passes every further signal, and SIGHUP, to `receiver`, which also ends this process. */
  passOn(receiver: (signal: NodeJS.Signals) => void): void {
    this.receiver = receiver;
    this.source.on('SIGHUP', receiver);
  }

  private interrupted(signal: NodeJS.Signals): void {
    this.count += 1;
    if (this.receiver) return this.receiver(signal);
    if (this.count > 1) {
      this.lastMessage?.();
      return this.exit(EXIT.interrupted);
    }
    if (this.handler) this.handler();
    else this.aborter.abort();
  }
}
