import type { Pool, ToolDescriptor } from '#contracts';
import type { ToolContext } from './tool-context.port.js';
import type { ToolError } from './tool-error.js';
import type { ToolOutput } from './tool-output.js';

/** Spellings of arguments that a source accepts in addition to its schema. */
export interface ArgumentHints {
  /** Argument → its aliases. The argument itself takes precedence, then the first alias that is not empty. */
  readonly aliases?: Readonly<Record<string, readonly string[] | undefined>>;
  /** The argument that a bare text stands for. */
  readonly rawArgument?: string;
}

/** Source of tools: the built-in ones, an MCP server, an OpenAPI document. Registry and worker depend on this interface only. */
export interface ToolSource {
  readonly name: string;
  /** Complete descriptors; `describeTool` fills in defaults. */
  list(): readonly ToolDescriptor[];
  /** The queue of calls of a pool, where it is not that of the pool itself. */
  queueOf?(pool: Pool): string | undefined;
  /** True for a tool of this repository, whose tests compile its schemas. Default: false. */
  isShipped?(tool: string): boolean;
  /**
   * True if the source writes an `ExactNumber` with all its digits. Other sources reject numbers that do not fit a double.
   * Default: false.
   */
  readonly takesExactNumbers?: boolean;
  /** True if the other side decides which texts a format allows, as servers do that accept more than its standard. Default: false. */
  readonly checksFormats?: boolean;
  argumentHints?(tool: string): ArgumentHints | undefined;
  /** Error in arguments that fit the schema, if detectable without running the tool. Never throws. */
  check?(tool: string, args: Readonly<Record<string, unknown>>): ToolError | undefined;
  /** Arguments with derived values, after `check` found nothing. Never throws. */
  complete?(tool: string, args: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined;
  /** Runs a tool with validated arguments. Rejects with a ToolError for failures of the tool. Never throws outside of the promise. */
  call(tool: string, args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolOutput>;
  /** Calls `listener` after `list()` has changed. Returns how to unsubscribe. */
  onChange(listener: () => void): () => void;
  /** Releases connections. Idempotent. */
  close(): Promise<void>;
}

/** Sources that come and go while the process runs. */
export interface TenantSources {
  /**
   * The sources of a tenant, with tools by their final names, none of which is in `taken`. The same array until one of them
   * changes. Cheap: called for every call.
   */
  of(tenantId: string, taken: ReadonlySet<string>): readonly ToolSource[];
  /** Refreshes the changed parts immediately. Never rejects. */
  refresh(): Promise<void>;
  /** Releases connections. Idempotent. */
  close(): Promise<void>;
}
