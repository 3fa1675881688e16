import type { Client, Tool } from '@modelcontextprotocol/client';

const LIST_MS = 30_000;

type Support = NonNullable<Tool['execution']>['taskSupport'];

/** Revision 2025-11-25: which tools a client may, or has to, begin as a task. Newer servers decide themselves. */
export class TaskSupport {
  private known: Promise<ReadonlyMap<string, Support>> | undefined;

  /** `outlive`: tasks are there after the connection is gone. */
  constructor(
    private readonly client: Client,
    readonly outlive: boolean,
  ) {}

  /** The list was read, by whichever call. */
  listed(tools: readonly Tool[]): void {
    this.known = Promise.resolve(supportIn(tools));
  }

  forget(): void {
    this.known = undefined;
  }

  /** A tool that allows tasks is begun as one where a task survives this worker. */
  async wants(name: string, signal: AbortSignal): Promise<boolean> {
    if (this.client.getProtocolEra() === 'modern') return false;
    if (this.client.getServerCapabilities()?.tasks?.requests?.tools?.call === undefined) return false;
    const support = (await unlessAborted((this.known ??= this.read()), signal)).get(name);
    return support === 'required' || (support === 'optional' && this.outlive);
  }

  /** Reads the list once for all waiting calls, with its own timeout; the signal of a call does not end it. */
  private read(): Promise<ReadonlyMap<string, Support>> {
    const reading = this.client.listTools(undefined, { timeout: LIST_MS }).then(({ tools }) => supportIn(tools));
    reading.catch(() => {
      if (this.known === reading) this.known = undefined;
    });
    return reading;
  }
}

/** @throws the reason of the signal */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason instanceof Error ? signal.reason : new Error('The call was aborted'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function supportIn(tools: readonly Tool[]): ReadonlyMap<string, Support> {
  return new Map(tools.map(({ name, execution }) => [name, execution?.taskSupport]));
}
