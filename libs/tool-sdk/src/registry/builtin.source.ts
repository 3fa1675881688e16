import type { ToolDescriptor } from '#contracts';
import { describeDecorated } from './tool-descriptor.js';
import type { AnyToolHandler, ToolOptions } from '../tool.decorator.js';
import { ToolError } from '../tool-error.js';
import type { ArgumentHints, ToolSource } from '../tool-source.port.js';
import type { ToolContext } from '../tool-context.port.js';
import type { ToolOutput } from '../tool-output.js';

/** Models that know confirm functions know this text. */
const NOT_CONFIRMED = 'Command was not confirmed by the user.';

/** Decorated instance with the options of its decorator. */
export interface DecoratedTool {
  readonly options: ToolOptions;
  readonly handler: AnyToolHandler;
}

interface BuiltinTool extends DecoratedTool {
  readonly descriptor: ToolDescriptor;
}

/** The tools written in this repository and further classes of the process: one class each. The set is fixed once the process is up. */
export class BuiltinSource implements ToolSource {
  readonly name = 'builtin';
  private loaded: readonly BuiltinTool[] | undefined;
  private byName: ReadonlyMap<string, BuiltinTool> = new Map();

  /** `find` is asked at the first use, when all instances exist. `shipped`: names of the tools that are of this repository. */
  constructor(
    private readonly find: () => readonly DecoratedTool[],
    private readonly shipped: ReadonlySet<string> = new Set(),
  ) {}

  list(): readonly ToolDescriptor[] {
    return this.tools().map(({ descriptor }) => descriptor);
  }

  isShipped(tool: string): boolean {
    return this.shipped.has(tool);
  }

  argumentHints(tool: string): ArgumentHints | undefined {
    const options = this.byName.get(tool)?.options;
    return (
      options && {
        aliases: options.argumentAliases ?? {},
        ...(options.rawArgument === undefined ? {} : { rawArgument: options.rawArgument }),
      }
    );
  }

  check(tool: string, args: Readonly<Record<string, unknown>>): ToolError | undefined {
    const handler = this.byName.get(tool)?.handler;
    if (handler?.check === undefined) return undefined;
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as in `call`
      handler.check(args as never);
      return undefined;
    } catch (error) {
      if (error instanceof ToolError) return error;
      throw error;
    }
  }

  complete(tool: string, args: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as in `call`
    return this.byName.get(tool)?.handler.complete?.(args as never);
  }

  async call(tool: string, args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolOutput> {
    const handler = this.byName.get(tool)?.handler;
    if (!handler) throw new ToolError('not_found', `Tool not found: ${tool}`);
    ctx.signal.throwIfAborted();
    if (ctx.deadline <= Date.now())
      throw new ToolError('run_timeout', 'The time of this call was over before it could run.', { retryable: true });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the registry has checked the arguments against the schema that `run` is typed by: here that becomes a type
    const typed = args as never;
    if (handler.confirm !== undefined) {
      if (!(await handler.confirm(typed, ctx))) throw new ToolError('approval_denied', NOT_CONFIRMED);
      ctx.signal.throwIfAborted();
    }
    return handler.run(typed, ctx);
  }

  onChange(): () => void {
    return () => undefined;
  }

  async close(): Promise<void> {}

  private tools(): readonly BuiltinTool[] {
    if (!this.loaded) {
      this.loaded = this.find().map((tool) => ({ ...tool, descriptor: describe(tool, this.name) }));
      this.byName = new Map(this.loaded.map((tool) => [tool.options.name, tool]));
    }
    return this.loaded;
  }
}

/** Throws with the tool's name and the fix if its options contradict each other. */
function describe({ options, handler }: DecoratedTool, source: string): ToolDescriptor {
  try {
    checkRun(handler);
    return describeDecorated(options, source);
  } catch (error) {
    throw new Error(`Tool "${options.name}" cannot be registered: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** Plugins in JavaScript have no compiler that would refuse it. */
function checkRun({ run }: { readonly run: unknown }): void {
  if (typeof run !== 'function') throw new Error(`expected \`run\` to be a function, got ${typeof run}`);
  if (/^(?:Async)?GeneratorFunction$/.test(run.constructor.name))
    throw new Error('`run` is a generator: return the result, and send pieces with `ctx.onUpdate`');
}
