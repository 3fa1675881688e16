import type { Client, Tool } from '@modelcontextprotocol/client';

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
    this.known ??= this.client.listTools(undefined, { signal }).then(({ tools }) => supportIn(tools));
    const reading = this.known;
    try {
      const support = (await reading).get(name);
      return support === 'required' || (support === 'optional' && this.outlive);
    } catch (error) {
      if (this.known === reading) this.known = undefined;
      throw error;
    }
  }
}

function supportIn(tools: readonly Tool[]): ReadonlyMap<string, Support> {
  return new Map(tools.map(({ name, execution }) => [name, execution?.taskSupport]));
}
