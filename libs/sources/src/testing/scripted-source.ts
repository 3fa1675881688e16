import type { StoredSource } from '#contracts';
import type { OfferedTool } from '../catalog/offered-tool.js';
import type { SourceConnection, SourceConnector } from '../source-connector.port.js';

/** A source whose tools and health the test decides. */
export class ScriptedSource implements SourceConnector {
  tools: OfferedTool[] = [];
  fault: string | undefined;
  /** Reason for which a list has only its beginning. */
  broken: string | undefined;
  onList: () => void = () => {};
  opened = 0;
  closed = 0;
  /** How long a close takes. */
  closing: Promise<void> = Promise.resolve();
  private readonly listeners = new Set<{ change: () => void; lost: (reason: string) => void }>();

  constructor(...tools: OfferedTool[]) {
    this.tools = tools;
  }

  async open(_source: StoredSource): Promise<SourceConnection> {
    if (this.fault !== undefined) throw new Error(this.fault);
    this.opened += 1;
    const listener = { change: () => {}, lost: (_reason: string) => {} };
    this.listeners.add(listener);
    return {
      list: async () => {
        this.onList();
        return { tools: this.tools, broken: this.broken };
      },
      call: async (rawName, args) => `${rawName} ${JSON.stringify(args)}`,
      onChange: (change) => void (listener.change = change),
      onClosed: (lost) => void (listener.lost = lost),
      close: async () => {
        this.closed += 1;
        await this.closing;
      },
    };
  }

  change(...tools: OfferedTool[]): void {
    this.tools = tools;
    for (const { change } of this.listeners) change();
  }

  /** The connection breaks, and cannot be opened again until `recover`. */
  fail(reason: string): void {
    this.fault = reason;
    for (const { lost } of this.listeners) lost(reason);
  }
}

export function offerTool(rawName: string, more: Partial<OfferedTool> = {}): OfferedTool {
  return { rawName, description: `For tests: ${rawName}.`, input: { type: 'object', properties: { text: { type: 'string' } } }, ...more };
}
