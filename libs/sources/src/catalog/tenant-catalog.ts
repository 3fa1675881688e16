import { ALL_TENANTS, type JsonSchema, type Pool, type SourceKind, type ToolDescriptor } from '#contracts';
import { keys } from '#redis';
import { ExactNumber, replaceNumberTexts, type TenantSources, type ToolContext, type ToolOutput, type ToolSource } from '#tool-sdk';
import { isFields } from '../fields.js';
import type { SourceId } from '../source-id.js';
import type { PinnedSource } from './source-store.js';
import type { SourceWatcher } from './source-watcher.js';
import { catalogNames, type NamedTool } from './tool-names.js';

/** Runs a tool of a source by the name that the source knows. */
export type RunSourceTool = (
  source: SourceId,
  rawName: string,
  args: Readonly<Record<string, unknown>>,
  ctx: ToolContext,
) => Promise<ToolOutput>;

export interface TenantCatalogOptions {
  /** Absent where tools are only listed and checked. */
  readonly run?: RunSourceTool;
  readonly close?: () => Promise<void>;
}

/** The tools of all sources by tenant, under their final names. */
export class TenantCatalog implements TenantSources {
  private version: readonly PinnedSource[] | undefined;
  private taken: ReadonlySet<string> | undefined;
  private operators: readonly CatalogSource[] = [];
  private byTenant = new Map<string, readonly CatalogSource[]>();
  private owners = new Map<string, PinnedSource[]>();

  constructor(
    private readonly watcher: Pick<SourceWatcher, 'list' | 'refresh'>,
    private readonly options: TenantCatalogOptions = {},
  ) {}

  of(tenantId: string, taken: ReadonlySet<string>): readonly CatalogSource[] {
    this.renew(taken);
    const own = this.owners.get(tenantId);
    if (own === undefined || tenantId === ALL_TENANTS) return this.operators;
    let sources = this.byTenant.get(tenantId);
    if (sources === undefined) {
      sources = this.layered(own, this.operators, taken);
      this.byTenant.set(tenantId, sources);
    }
    return sources;
  }

  refresh(): Promise<void> {
    return this.watcher.refresh();
  }

  async close(): Promise<void> {
    await this.options.close?.();
  }

  private renew(taken: ReadonlySet<string>): void {
    const version = this.watcher.list();
    if (version === this.version && taken === this.taken) return;
    this.version = version;
    this.taken = taken;
    this.byTenant = new Map();
    this.owners = new Map();
    for (const source of version) {
      const owned = this.owners.get(source.entry.tenantId) ?? [];
      this.owners.set(source.entry.tenantId, [...owned, source]);
    }
    this.operators = this.layered(this.owners.get(ALL_TENANTS) ?? [], [], taken);
  }

  /** Sources of the config file before others, since policies of the operator name their tools. */
  private layered(own: readonly PinnedSource[], below: readonly CatalogSource[], taken: ReadonlySet<string>): readonly CatalogSource[] {
    const names = new Set(below.map(({ name }) => name));
    const visible = own.filter(({ entry }) => !names.has(entry.name));
    const [configured, others] = [
      visible.filter(({ entry }) => entry.origin === 'config'),
      visible.filter(({ entry }) => entry.origin !== 'config'),
    ];
    const first = this.group(configured, below, taken);
    return [...below, ...first, ...this.group(others, [...below, ...first], taken)];
  }

  private group(own: readonly PinnedSource[], below: readonly CatalogSource[], taken: ReadonlySet<string>): CatalogSource[] {
    const tools = own.flatMap(({ entry }) =>
      entry.tools.map(({ descriptor }): NamedTool => ({ source: entry.name, name: descriptor.name })),
    );
    const all = new Set([...taken, ...below.flatMap((source) => source.list().flatMap(({ name, aliases }) => [name, ...aliases]))]);
    const names = catalogNames(tools, all);
    let next = 0;
    return own.map(
      (source) =>
        new CatalogSource(
          source,
          source.entry.tools.map(() => names[next++] ?? { name: '', aliases: [] }),
          this.options.run,
        ),
    );
  }
}

/** Source in the form of the registry. Immutable: a change creates another one. */
export class CatalogSource implements ToolSource {
  readonly name: string;
  private readonly tools: readonly ToolDescriptor[];
  private readonly rawNames = new Map<string, string>();

  constructor(
    source: PinnedSource,
    names: readonly { readonly name: string; readonly aliases: readonly string[] }[],
    private readonly run: RunSourceTool | undefined,
  ) {
    this.name = source.entry.name;
    this.tenantId = source.entry.tenantId;
    this.kind = source.entry.kind;
    this.tools = source.entry.tools.map(({ rawName, descriptor }, index) => {
      const { name, aliases } = names[index] ?? { name: descriptor.name, aliases: [] };
      this.rawNames.set(name, rawName);
      const shown = isPending(source, index) ? withoutTexts(descriptor) : descriptor;
      return { ...shown, name, aliases: [...aliases], available: availabilityOf(source, index, name) };
    });
  }

  private readonly tenantId: string;
  private readonly kind: SourceKind;

  /** Workers in other languages and plugins get values of JSON libraries, which would round. */
  get takesExactNumbers(): boolean {
    return this.kind === 'mcp' || this.kind === 'openapi' || this.kind === 'folder';
  }

  /** Plugins, folders and workers often have no check of their own. */
  get checksFormats(): boolean {
    return this.kind === 'mcp';
  }

  /** Calls of foreign workers wait apart from those of the pools. */
  queueOf(pool: Pool): string | undefined {
    return this.kind === 'worker' ? keys.workerQueue(this.tenantId, this.name, pool) : undefined;
  }

  list(): readonly ToolDescriptor[] {
    return this.tools;
  }

  async call(tool: string, args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolOutput> {
    const rawName = this.rawNames.get(tool);
    if (rawName === undefined || this.run === undefined) throw new Error(`the source ${this.name} cannot run ${tool} in this process`);
    const input = this.tools.find(({ name }) => name === tool)?.input;
    const exact = input !== undefined && this.takesExactNumbers ? withExactNumbers(args, input) : args;
    return this.run({ tenantId: this.tenantId, name: this.name }, rawName, exact, ctx);
  }

  onChange(): () => void {
    return () => undefined;
  }

  async close(): Promise<void> {}
}

function withExactNumbers(args: Readonly<Record<string, unknown>>, input: JsonSchema): Readonly<Record<string, unknown>> {
  const exact = replaceNumberTexts(args, input, (digits) => new ExactNumber(digits));
  return isFields(exact) ? exact : args;
}

/** True for a tool that differs from its accepted form and waits for a person. */
export function isPending({ entry, pins }: PinnedSource, index: number): boolean {
  const tool = entry.tools[index];
  return entry.pin && tool !== undefined && pins[tool.rawName] !== tool.digest;
}

/** Tool without its texts: no model and no catalog gets the texts of a changed tool before a person accepted it. */
function withoutTexts(tool: ToolDescriptor): ToolDescriptor {
  const { output: _output, ...rest } = tool;
  return {
    ...rest,
    label: 'Changed tool',
    description: 'Changed in its source. An administrator has not accepted the change yet.',
    input: { type: 'object' },
    examples: [],
  };
}

function availabilityOf(source: PinnedSource, index: number, name: string): ToolDescriptor['available'] {
  const { entry } = source;
  if (isPending(source, index))
    return {
      ok: false,
      reason: `${name} is not available: its description, schema or facts, or the address of the source ${entry.name}, have changed, and an administrator has not accepted the change yet`,
    };
  if (entry.status !== 'stale') return { ok: true };
  return { ok: false, reason: `${name} is not available: the source ${entry.name} is not reachable now` };
}
