import type { FolderSourceDefinition, Pool, StoredSource } from '#contracts';
import type { Sandbox } from '#sandbox';
import { ToolError, type ToolContext, type ToolOutput } from '#tool-sdk';
import { everyMs, type Ticker } from '#timing';
import type { Listing, SourceConnection, SourceConnector } from '../source-connector.port.js';
import { folderSignature, programState, readFolder, type FoundTool } from './read-folder.js';
import { runFolderTool } from './run-folder-tool.js';

/** Folders of network file systems send no events, so they are looked at. */
const LOOK_MS = 500;

export interface FolderConnectorOptions {
  readonly sandboxOf: (pool: Pool) => Sandbox;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: (message: string, facts: object) => void;
}

/** Folders of tools on the worker's disk. */
export class FolderConnector implements SourceConnector {
  constructor(private readonly options: FolderConnectorOptions) {}

  async open({ definition }: StoredSource): Promise<SourceConnection> {
    if (definition.kind !== 'folder') throw new Error('expected a source of the kind folder');
    const connection = new FolderConnection(definition, this.options);
    await connection.start();
    return connection;
  }
}

class FolderConnection implements SourceConnection {
  private readonly changed = new Set<() => void>();
  private tools: ReadonlyMap<string, FoundTool> = new Map();
  private problems: readonly string[] = [];
  private signature = '';
  private ticker: Ticker | undefined;

  constructor(
    private readonly definition: FolderSourceDefinition,
    private readonly options: FolderConnectorOptions,
  ) {}

  async start(): Promise<void> {
    await this.load();
    this.ticker = everyMs(LOOK_MS, () => this.look());
  }

  async list(): Promise<Listing> {
    await this.load();
    const tools = [...this.tools.values()].map(({ tool, program }) => {
      const { name, label, description, input, output, tier, effect, timeoutMs, pool } = tool;
      return { rawName: name, label, description, input, output, tier, effect, timeoutMs, pool, program };
    });
    return { tools, problems: this.problems };
  }

  async call(rawName: string, args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolOutput> {
    if (!this.tools.has(rawName)) await this.load();
    const found = this.tools.get(rawName);
    if (found === undefined)
      throw new ToolError('unavailable', `The folder of ${rawName} is not there on this worker`, { retryable: true });
    const { definition, options } = this;
    const pool = definition.pool ?? (definition.trust ? found.tool.pool : undefined) ?? 'shell';
    return runFolderTool(found, args, ctx, { sandbox: options.sandboxOf(pool), env: options.env, network: definition.network });
  }

  onChange(listener: () => void): void {
    this.changed.add(listener);
  }

  /** A folder that disappears shows as a failed list; there is no connection to lose. */
  onClosed(): void {}

  async close(): Promise<void> {
    this.ticker?.unsubscribe();
    this.changed.clear();
  }

  /** Never rejects: a folder that cannot be read shows when its tools are listed. */
  private async look(): Promise<void> {
    const tools = [...this.tools.values()];
    const [signature, ...states] = await Promise.all([folderSignature(this.definition.path), ...tools.map(programState)]);
    if (signature === this.signature && tools.every(({ state }, index) => state === states[index])) return;
    this.signature = signature;
    await this.load().catch(() => undefined);
    for (const listener of this.changed) listener();
  }

  private async load(): Promise<void> {
    this.signature = await folderSignature(this.definition.path);
    const { tools, problems } = await readFolder(this.definition.path);
    this.problems = problems;
    this.tools = new Map(tools.map((found) => [found.tool.name, found]));
    if (problems.length > 0)
      this.options.log('folder tools were left out', { source: this.definition.name, problems: problems.slice(0, 20) });
  }
}
