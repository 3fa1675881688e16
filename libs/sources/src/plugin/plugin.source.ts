import { Suspension, ToolError, type ToolContext, type ToolOutput } from '#tool-sdk';
import { CALL_ERROR_CODES, type CallErrorCode, type StoredSource } from '#contracts';
import { withinBudget } from '../flood/within-budget.js';
import type { Listing, SourceConnection, SourceConnector } from '../source-connector.port.js';
import type { LoadedPlugin } from './load-plugin.js';

type Log = (message: string, facts: object) => void;

/** Tools of plugins that this process has loaded. Unchanged for the lifetime of the process. */
export class PluginConnector implements SourceConnector {
  constructor(
    private readonly plugins: readonly LoadedPlugin[],
    private readonly log: Log,
  ) {}

  async open({ definition }: StoredSource): Promise<SourceConnection> {
    const plugin = this.plugins.find(({ source }) => source.definition.name === definition.name);
    if (plugin === undefined) throw new Error(`this worker has not loaded the plugin ${definition.name}`);
    return new PluginConnection(plugin, this.log);
  }
}

class PluginConnection implements SourceConnection {
  constructor(
    private readonly plugin: LoadedPlugin,
    private readonly log: Log,
  ) {}

  async list(): Promise<Listing> {
    return { tools: this.plugin.tools.list().map(({ name, ...facts }) => ({ ...facts, rawName: name })) };
  }

  async call(rawName: string, args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolOutput> {
    try {
      const refused = this.plugin.tools.check(rawName, args);
      if (refused !== undefined) throw refused;
      return ownOutput(await withinBudget(ctx, (metered) => this.plugin.tools.call(rawName, args, metered)));
    } catch (error) {
      if (ctx.signal.aborted) throw ctx.signal.reason;
      const own = ownError(error);
      if (own !== undefined) throw own;
      this.log('a tool of a plugin threw an unexpected error', { callId: ctx.callId, tool: ctx.toolName, err: error });
      throw new ToolError('tool_failed', `The tool failed unexpectedly. The worker's log has the details under ${ctx.callId}.`);
    }
  }

  onChange(): void {}

  onClosed(): void {}

  async close(): Promise<void> {}
}

const CODES: ReadonlySet<string> = new Set(CALL_ERROR_CODES);
const isCode = (code: unknown): code is CallErrorCode => typeof code === 'string' && CODES.has(code);

/** A plugin may come with its own copy of the SDK, whose classes are others. */
function ownError(error: unknown): ToolError | undefined {
  if (error instanceof ToolError) return error;
  if (!(error instanceof Error) || error.name !== 'ToolError' || !('code' in error) || !isCode(error.code)) return undefined;
  const options = 'options' in error && typeof error.options === 'object' ? { ...error.options } : {};
  return new ToolError(error.code, error.message, options);
}

function ownOutput(output: ToolOutput): ToolOutput {
  if (typeof output !== 'object' || output instanceof Suspension || !('options' in output)) return output;
  const { options } = output;
  return new Suspension(typeof options === 'object' && options !== null ? { ...options } : {});
}
